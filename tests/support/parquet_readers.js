// Compares Parquet with NDJSON, value by value, as DuckDB and hyparquet read it.
// usage: NODE_PATH=node_modules node parquet_readers.js FILE.parquet FILE.ndjson
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');
const {DuckDBInstance} = require('@duckdb/node-api');

const module_at = name => import(pathToFileURL(path.join(process.env.NODE_PATH, name)));
// an integer beyond 2^53 is compared as JSON.parse reads it
const plain = v => (typeof v === 'bigint' ? Number(v) : v === undefined ? null : v);

function compare(reader, rows, want) {
    if (rows.length !== want.length)
        throw new Error(`${reader}: ${rows.length} rows, not ${want.length}`);
    rows.forEach((row, i) => {
        for (const [name, value] of Object.entries(want[i]))
            if (name !== 'seconds' && plain(row[name]) !== value)
                throw new Error(`${reader}: row ${i + 1}, ${name}: ${row[name]}, not ${value}`);
    });
}

async function main([file, json]) {
    const want = fs.readFileSync(json, 'utf8').trim().split('\n').map(line => JSON.parse(line));
    const connection = await (await DuckDBInstance.create()).connect();
    const result = await connection.runAndReadAll('select * from read_parquet($1)', [file]);
    compare('DuckDB', result.getRowObjects(), want);
    const {parquetReadObjects} = await module_at('hyparquet/src/index.js');
    const {compressors} = await module_at('hyparquet-compressors/src/index.js');
    const bytes = fs.readFileSync(file);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    compare('hyparquet', await parquetReadObjects({file: buffer, compressors}), want);
}

main(process.argv.slice(2)).catch(error => {
    console.log(error.message);
    process.exit(1);
});
