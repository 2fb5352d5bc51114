"""Buys over HTTP with the official package: reads what, a line of JSON each, from standard input, and prints what it has got."""

import base64
import json
import sys

from eth_account import Account

from x402 import x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.mechanisms.evm.exact.client import ExactEvmScheme
from x402.mechanisms.evm.signers import EthAccountSignerWithRPC
from x402.mechanisms.evm.upto.client import UptoEvmScheme


def buy(asked):
    signer = EthAccountSignerWithRPC(Account.from_key(asked["key"]), rpc_url=asked["rpc"])
    client = x402ClientSync()
    client.register("eip155:*", ExactEvmScheme(signer))
    client.register("eip155:*", UptoEvmScheme(signer))
    # beside the assets that the package knows
    client.set_spend_controls({"allowed_assets": [{"network": "eip155:8453", "asset": asked["allowed"]}]})
    response = x402_requests(client).get(asked["url"], timeout=60)
    settled = response.headers.get("PAYMENT-RESPONSE")
    return {
        "status": response.status_code,
        "body": response.json(),
        "settled": json.loads(base64.b64decode(settled)) if settled else None,
    }


for line in sys.stdin:
    print(json.dumps(buy(json.loads(line))), flush=True)
