/** The longest time in seconds for which clients may authorise a payment. */
export const maxSeconds = 3_600;
