-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The agent that created a transaction, and how it counts towards the limits of the agent: NULL if it does
-- not, because the agent has not started it.
ALTER TABLE transactions
    ADD COLUMN agent_id uuid,
    ADD COLUMN usage_day date, -- UTC
    ADD COLUMN usage_given_back boolean,
    ADD CONSTRAINT transaction_usage_of_agent CHECK ((usage_day IS NULL) = (usage_given_back IS NULL)
        AND (usage_day IS NULL OR agent_id IS NOT NULL)) NOT VALID;

-- The previous release does not give back what fails.
-- +goose StatementBegin
CREATE FUNCTION give_back_agent_usage() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    NEW.usage_given_back := true;
    UPDATE agent_usage u SET transactions = greatest(u.transactions - 1, 0), spent = greatest(u.spent - NEW.sent_minor, 0)
    WHERE u.platform_id = NEW.platform_id AND u.agent_id = NEW.agent_id AND u.day = NEW.usage_day AND u.currency = NEW.sent_currency;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER agent_usage_given_back BEFORE UPDATE OF status ON transactions FOR EACH ROW
    WHEN (NEW.usage_given_back = false AND NEW.status = 'FAILED') EXECUTE FUNCTION give_back_agent_usage();
