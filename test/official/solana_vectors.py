"""Prints payments on Solana as solders, the Rust SDK's own Python binding, compiles and signs them, for test/unit/chains/solana-vectors.test.ts.

In an environment of its own: pip install "solders==0.29.0"; python solana_vectors.py > ../unit/chains/solana-vectors.json
"""

import hashlib
import json
import random

from solders.compute_budget import set_compute_unit_limit, set_compute_unit_price
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import MessageV0, to_bytes_versioned
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM, TransferParams, transfer
from solders.token import ID as TOKEN
from solders.token.associated import get_associated_token_address
from solders.transaction import VersionedTransaction

numbers = random.Random(501)
TOKEN_2022 = Pubkey.from_string("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
ASSOCIATED = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
MEMO = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
MINTS = [
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
    "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
]
memos = [None, "a", "invoice 4711", "mémo ☃ 🙂", "x" * 100]


def token_instructions(owner, recipient, mint, program, amount, decimals, creates):
    source = get_associated_token_address(owner, mint, program)
    target = get_associated_token_address(recipient, mint, program)
    read = lambda key: AccountMeta(key, is_signer=False, is_writable=False)
    write = lambda key: AccountMeta(key, is_signer=False, is_writable=True)
    payer = AccountMeta(owner, is_signer=True, is_writable=True)
    authority = AccountMeta(owner, is_signer=True, is_writable=False)
    creation = Instruction(ASSOCIATED, b"\x01", [payer, write(target), read(recipient), read(mint), read(SYSTEM), read(program)])
    named = [] if creates else [read(recipient)]
    data = b"\x0c" + amount.to_bytes(8, "little") + bytes([decimals])
    payment = Instruction(program, data, [write(source), read(mint), write(target), authority, *named])
    return [creation] if creates else [], payment, source, target


def vector(index):
    key = Keypair.from_seed(numbers.randbytes(32))
    recipient = Keypair.from_seed(numbers.randbytes(32)).pubkey()
    mint = None if index % 3 == 0 else Pubkey.from_string(numbers.choice(MINTS))
    program = numbers.choice([TOKEN, TOKEN_2022])
    creates = index % 2 == 0
    decimals = numbers.choice([0, 6, 9])
    amount = numbers.choice([1, 255, 1_000_000, 2**64 - 1, numbers.randrange(1, 2**64)])
    memo = memos[index % len(memos)]
    units = numbers.randrange(1, 300_001)
    price = numbers.choice([0, 1, 5_000_000, numbers.randrange(5_000_000)])
    blockhash = Hash(numbers.randbytes(32))

    budget = [set_compute_unit_limit(units), set_compute_unit_price(price)]
    note = [] if memo is None else [Instruction(MEMO, memo.encode(), [])]
    if mint is None:
        before, source, target = [], None, None
        payment = transfer(TransferParams(from_pubkey=key.pubkey(), to_pubkey=recipient, lamports=amount))
    else:
        before, payment, source, target = token_instructions(
            key.pubkey(), recipient, mint, program, amount, decimals, creates
        )
    message = MessageV0.try_compile(key.pubkey(), [*budget, *before, *note, payment], [], blockhash)
    signed = VersionedTransaction(message, [key])
    unsigned = to_bytes_versioned(message)
    return {
        "key": bytes(key)[:32].hex(),
        "from": str(key.pubkey()),
        "to": str(recipient),
        "mint": mint and str(mint),
        "token": mint and {
            "program": "token" if program == TOKEN else "token-2022",
            "decimals": decimals,
            "creates": creates,
        },
        "accounts": mint and [str(source), str(target)],
        "amount": str(amount),
        "units": units,
        "price": str(price),
        "blockhash": str(blockhash),
        "memo": memo,
        "unsigned": unsigned.hex(),
        "messageHash": hashlib.sha256(unsigned).hexdigest(),
        "signature": bytes(signed.signatures[0]).hex(),
        "id": str(signed.signatures[0]),
        "signed": bytes(signed).hex(),
    }


def curve(index):
    key = Pubkey(bytes([index % 256] * 31 + [index // 256 * 128]) if index < 8 else numbers.randbytes(32))
    return {"address": str(key), "onCurve": key.is_on_curve()}


print(
    json.dumps(
        {"payments": [vector(index) for index in range(30)], "points": [curve(index) for index in range(40)]},
        indent=2,
        ensure_ascii=False,
    )
)
