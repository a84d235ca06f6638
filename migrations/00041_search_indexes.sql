-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.

-- The search finds a payment by an amount that it sends or receives, and by the id that a partner, a chain or a node has given it.
DROP INDEX CONCURRENTLY IF EXISTS transactions_by_received;
CREATE INDEX CONCURRENTLY transactions_by_received ON transactions (platform_id, received_minor, received_currency, id);
DROP INDEX CONCURRENTLY IF EXISTS transactions_by_sent;
CREATE INDEX CONCURRENTLY transactions_by_sent ON transactions (platform_id, sent_minor, sent_currency, id) WHERE direction = 'OUTGOING';
DROP INDEX CONCURRENTLY IF EXISTS rail_replies_by_partner_id;
CREATE INDEX CONCURRENTLY rail_replies_by_partner_id ON rail_replies (platform_id, partner_id, subject_id) WHERE partner_id <> '';
