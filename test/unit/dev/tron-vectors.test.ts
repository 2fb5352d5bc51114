import { sha256 } from '../../../dev/tron/address';
import { rawBytes, readTransaction, showTransaction, stringify } from '../../../dev/tron/json';
import { headerSchema, type HeaderRaw } from '../../../dev/tron/messages';
import { encode } from '../../../dev/tron/protobuf';

// Answers of nodes of the Nile test network that TRON's documents show
// (https://tronprotocol.github.io/documentation-en: api/http/tx-build-and-broadcast/createtransaction,
// api/http/smart-contract/triggerconstantcontract, api/http/block-and-tx-query/getblock and getnowblock).

const transactions = [
  {
    txID: '6303c7639f591407ef9f34a7ac8c9c9a21151f5a6af21924502515734fc267ab',
    raw_data: {
      contract: [
        {
          parameter: {
            value: {
              amount: 1_000_000,
              owner_address: '41dd791d6b49e190062d650e6a23c575510d35f2f9',
              to_address: '4192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a',
            },
            type_url: 'type.googleapis.com/protocol.TransferContract',
          },
          type: 'TransferContract',
        },
      ],
      ref_block_bytes: '2927',
      ref_block_hash: '939ece39d08a7abe',
      expiration: 1_777_447_527_000,
      timestamp: 1_777_447_470_038,
    },
    raw_data_hex:
      '0a0229272208939ece39d08a7abe40d8c483c1dd335a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a1541dd791d6b49e190062d650e6a23c575510d35f2f912154192ad11c1bf16b3b14b0bd6b5c7e2db73a0b5e83a18c0843d70d68780c1dd33',
  },
  {
    txID: 'cff6488e738ce77f7325572fe0aa2470f87dbf1c95eeeb2c25feec59d5afa35c',
    raw_data: {
      contract: [
        {
          parameter: {
            value: {
              data: '70a08231000000000000000000000000dd791d6b49e190062d650e6a23c575510d35f2f9',
              owner_address: '41dd791d6b49e190062d650e6a23c575510d35f2f9',
              contract_address: '41eca9bc828a3005b9a3b909f2cc5c2a54794de05f',
            },
            type_url: 'type.googleapis.com/protocol.TriggerSmartContract',
          },
          type: 'TriggerSmartContract',
        },
      ],
      ref_block_bytes: '28c0',
      ref_block_hash: '9eabbe133123b34c',
      expiration: 1_777_447_218_000,
      timestamp: 1_777_447_160_779,
    },
    raw_data_hex:
      '0a0228c022089eabbe133123b34c40d0d6f0c0dd335a8e01081f1289010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412540a1541dd791d6b49e190062d650e6a23c575510d35f2f9121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f222470a08231000000000000000000000000dd791d6b49e190062d650e6a23c575510d35f2f970cb97edc0dd33',
  },
];

test.each(transactions)('a transaction of the test network: $txID', ({ txID, raw_data, raw_data_hex }) => {
  const transaction = readTransaction({ raw_data }, false);
  expect(rawBytes(transaction).toString('hex')).toBe(raw_data_hex);
  expect(JSON.parse(stringify(showTransaction(transaction, false)))).toEqual({ txID, raw_data, raw_data_hex });
});

const headers = [
  {
    blockID: '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e',
    number: 66_987_565n,
    txTrieRoot: 'faf8fe3858339ead25cc892461c82a59b84dca4a51c45b026676bf3f45a352a2',
    witness_address: '41b2f713d57dbcec679d93a8849fa0cd0e4db594ba',
    parentHash: '0000000003fe262c85cd6b02033f4c3e5c1efa35de256a17bd906dc61fb1aeed',
    timestamp: 1_777_445_121_000n,
  },
  {
    blockID: '0000000003fe266bf6b6d392f654dc2e5011601546ed04623d9fcc4e9d439a25',
    number: 66_987_627n,
    txTrieRoot: 'f8156964cc3e5793a368f938a18ea45c02bd48fe3a412f7091ce8d9ef56df174',
    witness_address: '41e7860196ad5b5718c1d6326babab039b70b8c1cd',
    parentHash: '0000000003fe266a65d5194c947f6f7a059d4646c8e9a5293226bc7fdcfc775e',
    timestamp: 1_777_445_307_000n,
  },
];

test.each(headers)('a block of the test network: $blockID', ({ blockID, txTrieRoot, witness_address, parentHash, ...rest }) => {
  const [root, witness, parent] = [txTrieRoot, witness_address, parentHash].map((hex) => Buffer.from(hex, 'hex'));
  const header = { ...rest, txTrieRoot: root, witness_address: witness, parentHash: parent, version: 34 } as HeaderRaw;
  expect(sha256(encode(headerSchema, header)).subarray(8).toString('hex')).toBe(blockID.slice(16));
});
