# Python's urllib. Arguments and output as of fetch.mjs.
import json
import sys
import urllib.error
import urllib.request

address, key, rounds, *sizes = sys.argv[1:]


def pieces(data):
    for start in range(0, len(data), 65536):
        yield data[start : start + 65536]


for size in map(int, sizes):
    data = b" " * size
    for _ in range(int(rounds)):
        for framing in ("length", "chunked"):
            request = urllib.request.Request(
                address,
                data=data if framing == "length" else pieces(data),
                headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
                method="POST",
            )
            try:
                with urllib.request.urlopen(request) as response:
                    outcome = str(response.status)
            except urllib.error.HTTPError as error:
                outcome = f"{error.code} {json.load(error)['code']}"
            except Exception as error:
                outcome = repr(error)
            print(framing, size, outcome)
