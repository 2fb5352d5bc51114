"""Sells over HTTP with the official package: reads what, as JSON, from standard input, and prints the port it listens on."""

import json
import logging
import sys

from flask import Flask, jsonify, make_response, request
from werkzeug.serving import make_server

from x402 import x402ResourceServerSync
from x402.http import HTTPFacilitatorClientSync, PaymentOption, RouteConfig
from x402.http.middleware.flask import payment_middleware, set_settlement_overrides
from x402.mechanisms.evm.exact.server import ExactEvmScheme
from x402.mechanisms.evm.upto.server import UptoEvmScheme

sold = json.loads(sys.stdin.readline())
logging.getLogger("werkzeug").setLevel(logging.ERROR)
headers = {"Authorization": f"Bearer {sold['token']}"}
# so that a slow machine does not have it ask twice
waiting = {**headers, "Prefer": "wait=60"}
facilitator = HTTPFacilitatorClientSync(
    {
        "url": sold["facilitator"],
        "create_headers": lambda: {"verify": headers, "settle": waiting, "supported": headers},
    }
)
server = x402ResourceServerSync(facilitator)
server.register("eip155:*", ExactEvmScheme())
server.register("eip155:*", UptoEvmScheme())

app = Flask(__name__)


def to_config(route):
    accepts = route["accepts"]
    option = PaymentOption(
        scheme=accepts["scheme"],
        pay_to=accepts["payTo"],
        price=accepts["price"],
        network=accepts["network"],
        extra=accepts["extra"],
    )
    return RouteConfig(accepts=option, extensions=route.get("extensions"))


@app.get("/<path:path>")
def resource(path):
    response = make_response(jsonify({"sold": f"/{path}"}))
    if path.startswith("upto/"):
        set_settlement_overrides(response, {"amount": request.args.get("take", sold["usualAmount"])})
    return response


payment_middleware(app, {pattern: to_config(route) for pattern, route in sold["routes"].items()}, server)
listener = make_server("127.0.0.1", 0, app, threaded=True)
print(listener.server_port, flush=True)
listener.serve_forever()
