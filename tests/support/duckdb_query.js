// Prints the answer of DuckDB to one statement as CSV.
// usage: NODE_PATH=node_modules node duckdb_query.js STATEMENT
const {DuckDBInstance} = require('@duckdb/node-api');

function cell(v) {
    const text = v === null ? '' : String(v);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function main([statement]) {
    const connection = await (await DuckDBInstance.create()).connect();
    const result = await connection.runAndReadAll(statement);
    console.log(result.columnNames().map(cell).join(','));
    for (const row of result.getRows())
        console.log(row.map(cell).join(','));
}

main(process.argv.slice(2)).catch(error => {
    console.error(error.message);
    process.exit(1);
});
