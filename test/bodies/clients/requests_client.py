# Python's requests. Arguments and output as of fetch.mjs.
import sys

import requests

address, key, rounds, *sizes = sys.argv[1:]


def pieces(data):
    for start in range(0, len(data), 65536):
        yield data[start : start + 65536]


session = requests.Session()
session.trust_env = False
for size in map(int, sizes):
    data = b" " * size
    for _ in range(int(rounds)):
        for framing in ("length", "chunked"):
            try:
                response = session.post(
                    address,
                    data=data if framing == "length" else pieces(data),
                    headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
                )
                outcome = f"{response.status_code} {response.json()['code']}"
            except Exception as error:
                outcome = repr(error)
            print(framing, size, outcome)
