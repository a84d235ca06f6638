-- +goose Up

-- How internal accounts are paid into: the code in the memo, and the ways there are
-- (JSON; empty while no rail was asked).
ALTER TABLE internal_accounts
    ADD COLUMN reference    text NOT NULL DEFAULT '',
    ADD COLUMN instructions text NOT NULL DEFAULT '';

-- The code follows from the id, of accounts that exist too: the last 59 bits, five a
-- letter, the lowest of the last letter being nought.
UPDATE internal_accounts a SET reference = 'FUND-' || code.letters
FROM (
    SELECT platform_id, id, string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((bits >> (5 * n)) & 31)::int + 1, 1), '' ORDER BY n DESC) AS letters
    FROM (SELECT platform_id, id, ((('x' || right(replace(id::text, '-', ''), 16))::bit(64)::bigint & ((1::bigint << 59) - 1)) << 1) AS bits
          FROM internal_accounts) AS numbered, generate_series(0, 11) AS n
    GROUP BY platform_id, id) AS code
WHERE a.platform_id = code.platform_id AND a.id = code.id;

-- Partial: a look-up by the primary key cannot fall for it.
CREATE UNIQUE INDEX internal_account_reference_unique ON internal_accounts (platform_id, reference) WHERE reference <> '';
-- The platform's own stand apart from those of a million customers.
CREATE INDEX external_accounts_of_platform ON external_accounts (platform_id, id) WHERE customer_id IS NULL;

-- A customer has one account at most that payments to its UMA address go to; of
-- several, the newest.
UPDATE external_accounts a SET default_uma_deposit = false
WHERE default_uma_deposit AND EXISTS (
    SELECT FROM external_accounts newer
    WHERE newer.platform_id = a.platform_id AND newer.customer_id = a.customer_id AND newer.default_uma_deposit AND newer.id > a.id);
CREATE UNIQUE INDEX external_account_default_uma_once ON external_accounts (platform_id, customer_id) WHERE default_uma_deposit AND deleted_at IS NULL;

-- +goose Down
SELECT 1;
