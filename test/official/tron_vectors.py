"""Prints transactions of Tron as tronpy's compiled protobuf encodes them and its keys sign them, for test/unit/chains/tron-vectors.test.ts.

In an environment of its own: pip install "tronpy[offline]==0.6.2"; python tron_vectors.py > ../unit/chains/tron-vectors.json
"""

import hashlib
import json
import random

from google.protobuf.any_pb2 import Any
from tronpy.keys import PrivateKey, to_raw_address
from tronpy.proto import tron_pb2

numbers = random.Random(195)
tokens = ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8"]
memos = [None, "a", "invoice 4711", "mémo ☃ 🙂", "x" * 100]


def vector(index):
    key = PrivateKey(numbers.randbytes(32))
    sender = key.public_key.to_base58check_address()
    recipient = PrivateKey(numbers.randbytes(32)).public_key.to_base58check_address()
    token = None if index % 2 == 0 else numbers.choice(tokens)
    limit = 2**63 if token is None else 2**256
    amount = numbers.choice([1, 127, 128, 1_000_000, limit - 1, numbers.randrange(1, limit)])
    block_id = f"{numbers.randrange(2**31):016x}{numbers.randbytes(24).hex()}"
    timestamp = numbers.randrange(1_600_000_000_000, 2_000_000_000_000)
    memo = memos[index % len(memos)]
    fee_limit = 0 if token is None else numbers.randrange(1, 15_000_000_001)

    if token is None:
        name, value = "TransferContract", tron_pb2.TransferContract(
            owner_address=to_raw_address(sender), to_address=to_raw_address(recipient), amount=amount
        )
    else:
        data = bytes.fromhex("a9059cbb") + bytes(12) + to_raw_address(recipient)[1:] + amount.to_bytes(32, "big")
        name, value = "TriggerSmartContract", tron_pb2.TriggerSmartContract(
            owner_address=to_raw_address(sender), contract_address=to_raw_address(token), data=data
        )
    contract = tron_pb2.Transaction.Contract(
        type=getattr(tron_pb2.Transaction.Contract.ContractType, name),
        parameter=Any(type_url=f"type.googleapis.com/protocol.{name}", value=value.SerializeToString()),
    )
    raw = tron_pb2.Transaction.raw(
        ref_block_bytes=bytes.fromhex(block_id[12:16]),
        ref_block_hash=bytes.fromhex(block_id[16:32]),
        expiration=timestamp + numbers.randrange(1, 86_400_000),
        timestamp=timestamp,
        contract=[contract],
        fee_limit=fee_limit,
        data=(memo or "").encode(),
    )
    unsigned = raw.SerializeToString()
    digest = hashlib.sha256(unsigned).digest()
    signature = key.sign_msg_hash(digest)
    return {
        "key": key.hex(),
        "from": sender,
        "to": recipient,
        "token": token,
        "amount": str(amount),
        "reference": {"number": block_id[12:16], "id": block_id[16:32]},
        "expiration": raw.expiration,
        "timestamp": raw.timestamp,
        "feeLimit": str(fee_limit),
        "memo": memo,
        "unsigned": unsigned.hex(),
        "id": digest.hex(),
        "signature": signature.hex(),
        "signed": tron_pb2.Transaction(raw_data=raw, signature=[bytes.fromhex(signature.hex())]).SerializeToString().hex(),
    }


print(json.dumps([vector(index) for index in range(20)], indent=2, ensure_ascii=False))
