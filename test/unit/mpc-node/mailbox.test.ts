import { Mailbox, MailboxError } from '../../../src/mpc/mailbox';

const body = Buffer.from('m');
const waitMs = 1_000;

describe('Mailbox', () => {
  const create = () => new Mailbox([2, 3], 4);

  test('returns a round once every sender has delivered', async () => {
    const mailbox = create();
    const taken = mailbox.take(1, [2, 3], waitMs);
    mailbox.put(1, 3, Buffer.from('three'));
    mailbox.put(1, 2, Buffer.from('two'));
    expect(await taken).toEqual(
      new Map([
        [2, Buffer.from('two')],
        [3, Buffer.from('three')],
      ]),
    );
  });

  test('a sender may be one round ahead of the round that is waited for, not two', async () => {
    const mailbox = create();
    mailbox.put(1, 2, body);
    mailbox.put(2, 2, body);
    expect(() => mailbox.put(3, 2, body)).toThrow(/ahead of the protocol/);
    mailbox.put(1, 3, body);
    await mailbox.take(1, [2, 3], waitMs);
    expect(() => mailbox.put(3, 2, body)).not.toThrow();
  });

  test('refuses a second message of a round, also after it was handed out', async () => {
    const mailbox = create();
    mailbox.put(1, 2, body);
    expect(() => mailbox.put(1, 2, Buffer.from('other'))).toThrow(/already sent round 1/);
    mailbox.put(1, 3, body);
    expect((await mailbox.take(1, [2, 3], waitMs)).get(2)).toEqual(body);
    expect(() => mailbox.put(1, 2, body)).toThrow(MailboxError);
  });

  test('refuses messages out of order, from other parties, or beyond the last round', () => {
    const mailbox = new Mailbox([2], 1);
    expect(() => mailbox.put(2, 2, body)).toThrow(/sent round 2 instead of 1/);
    expect(() => mailbox.put(1, 3, body)).toThrow(/takes no part/);
    mailbox.put(1, 2, body);
    expect(() => mailbox.put(2, 2, body)).toThrow(/ahead of the protocol/);
  });

  test('closing fails the wait with the reason and refuses later messages', async () => {
    const mailbox = create();
    const taken = mailbox.take(1, [2, 3], waitMs);
    mailbox.close(new Error('aborted by node 3'));
    mailbox.close(new Error('later reason'));
    await expect(taken).rejects.toThrow('aborted by node 3');
    expect(() => mailbox.put(1, 2, body)).toThrow(/has ended/);
    await expect(mailbox.take(1, [2], waitMs)).rejects.toThrow('aborted by node 3');
  });

  test('a silent sender is named when the wait is over', async () => {
    const mailbox = create();
    mailbox.put(1, 2, body);
    await expect(mailbox.take(1, [2, 3], 20)).rejects.toMatchObject({
      code: 'signers_unavailable',
      message: expect.stringMatching(/^node 3 sent nothing/),
    });
  });

  test('a round without senders ends at once', async () => {
    expect(await create().take(1, [], waitMs)).toEqual(new Map());
  });
});
