-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What the operator allows platforms to send, in minor units with fees; 0 does not limit. A rule without amounts was cleared, and still
-- counts on that day.
CREATE TABLE limits (
    platform_id uuid        NOT NULL REFERENCES platforms,
    currency    text        NOT NULL,
    customer    text        NOT NULL, -- the id of one, 'each' for each alone, '' for all together
    region      text        NOT NULL, -- of the customers, '' for any
    per_payment bigint      NOT NULL CONSTRAINT limit_per_payment_not_negative CHECK (per_payment >= 0),
    daily       bigint      NOT NULL CONSTRAINT limit_daily_not_negative CHECK (daily >= 0),
    changed_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, currency, customer, region)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON limits TO causeway_service;
SELECT isolate_platforms('limits');

-- What was sent on a day that a limit is compared with, by scope: a platform, its customers of a region, or one customer.
CREATE TABLE limit_usage (
    platform_id  uuid   NOT NULL REFERENCES platforms,
    scope        text   NOT NULL,
    day          date   NOT NULL, -- UTC
    currency     text   NOT NULL,
    transactions bigint NOT NULL CONSTRAINT limit_usage_transactions_not_negative CHECK (transactions >= 0),
    spent        bigint NOT NULL CONSTRAINT limit_usage_spent_not_negative CHECK (spent >= 0), -- minor units
    PRIMARY KEY (platform_id, scope, day, currency)
) WITH (fillfactor = 50); -- a row changes with each payment of its day
CREATE INDEX limit_usage_by_day ON limit_usage (platform_id, day);
GRANT SELECT, INSERT, UPDATE, DELETE ON limit_usage TO causeway_service;
SELECT isolate_platforms('limit_usage');

-- The counters of limit_usage that a payment was added to: their scopes, with spaces between, until it fails. NULL: none.
ALTER TABLE transactions ADD COLUMN limit_day date, ADD COLUMN limit_scopes text;
