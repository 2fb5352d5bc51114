/**
 * The house: the client that owns what the gateway itself pays with. Its id is fixed, so that every process knows it without
 * configuration. It has no users, and is in no list of clients and in no answer of the API.
 */
export const houseClientId = '00000000-0000-7000-8000-000000000402';
