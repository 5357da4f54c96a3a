"""A weather service for the example, with Python's standard library: `python weather.py 9000`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

TEMPERATURES = {"Lima": 19.5, "Oslo": -4}


class Weather(BaseHTTPRequestHandler):
    """GET /weather?city=Oslo, with a bearer token."""

    def do_GET(self) -> None:
        city = parse_qs(urlsplit(self.path).query).get("city", [""])[0]
        if self.headers["Authorization"] != "Bearer sunshine":
            self.respond(401, {"message": "who are you?"})
        elif city not in TEMPERATURES:
            self.respond(404, {"message": f"there is no city {city}"})
        else:
            self.respond(200, {"city": city, "temperature": TEMPERATURES[city]})

    def respond(self, status: int, document: dict[str, object]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Weather).serve_forever()
