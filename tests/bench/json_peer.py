"""What Python's json module takes to read a file. usage: json_peer.py FILE"""
import json
import sys

with open(sys.argv[1], 'rb') as f:
    print(len(json.load(f)))
