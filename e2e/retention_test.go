package e2e

import (
	"fmt"
	"strings"
	"testing"
)

func TestRetention_DeletesOldAndKeepsMoney(t *testing.T) {
	t.Parallel()
	// A server deletes what is older than its retention: a quote that expired unpaid, webhook events
	// and stored responses. A paid quote of the same age, and what is not old, stay.
	h := newDatabaseEnv(t)
	for _, parent := range []string{"webhook_events", "webhook_attempts"} {
		h.endFirstPartition(parent, "50 days")
	}
	// With the usual retention the first server might drop the first partition before it has events.
	h.server = startServer(t, h.databaseURL, "--webhook-retention", "87600h")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	unpaid, fresh, paid := h.createQuote(""), h.createQuote(""), h.createQuote("")
	h.payQuote(paid, 0).wantStatus(200)
	h.get("/transactions/" + paid.text("transactionId")).wantStatus(200)
	h.expireQuote(unpaid)
	h.expireQuote(fresh)
	for transaction, status := range map[string]string{unpaid.text("transactionId"): "EXPIRED", fresh.text("transactionId"): "EXPIRED",
		paid.text("transactionId"): "COMPLETED"} {
		eventually(t, transaction+" is "+status, func() bool {
			return h.get("/transactions/"+transaction).text("status") == status
		})
	}
	keyed := h.withHeader("Idempotency-Key", "22222222-2222-4222-8222-222222222222")
	body := customerBody()
	keyed.post("/customers", body).wantStatus(201)
	eventsOf := `SELECT count(*) FROM webhook_events WHERE subject_id = $1`
	if n := h.queryInt(eventsOf, uuidOf(unpaid.text("transactionId"))); n == 0 {
		t.Fatal("the unpaid quote has no events")
	}

	// All but the fresh quote become 100 days old: ids contain the time.
	const oldID = `overlay(%::text PLACING left(first_uuid_v7(now() - interval '100 days')::text, 13) FROM 1)::uuid`
	id := func(column string) string { return strings.ReplaceAll(oldID, "%", column) }
	h.exec(`UPDATE webhook_events SET id = `+id("id")+`, created_at = created_at - interval '100 days' WHERE subject_id <> $1`,
		uuidOf(fresh.text("transactionId")))
	h.exec(`WITH old AS (UPDATE quotes SET id = `+id("id")+
		`, created_at = created_at - interval '100 days' WHERE id <> $1 RETURNING id, transaction_id)
		UPDATE transactions t SET quote_id = old.id FROM old WHERE t.id = old.transaction_id`, uuidOf(fresh.text("id")))
	h.exec(`UPDATE idempotency_keys SET created_at = created_at - interval '100 days'`)
	second := startServer(t, h.databaseURL) // deletes at its start what the first one did not

	eventually(t, "the old responses are deleted", func() bool { return h.queryInt(`SELECT count(*) FROM idempotency_keys`) == 0 })
	eventually(t, "the old events are deleted", func() bool {
		return h.queryInt(eventsOf, uuidOf(unpaid.text("transactionId")))+h.queryInt(eventsOf, uuidOf(paid.text("transactionId"))) == 0
	})
	eventually(t, "the unpaid quote is deleted", func() bool { return h.queryInt(`SELECT count(*) FROM quotes`) == 2 })
	h.get("/transactions/" + unpaid.text("transactionId")).wantStatus(404)
	h.get("/quotes/" + fresh.text("id")).wantStatus(200)
	h.get("/transactions/" + fresh.text("transactionId")).wantStatus(200)
	if n := h.queryInt(eventsOf, uuidOf(fresh.text("transactionId"))); n == 0 {
		t.Error("the events of the fresh quote are deleted")
	}
	if got := h.get("/transactions/" + paid.text("transactionId")).wantStatus(200).text("status"); got != "COMPLETED" {
		t.Errorf("the paid quote's transaction is %s", got)
	}
	h.get("/transactions/" + paid.text("transactionId") + "/timeline").wantStatus(200)
	// Any process may have deleted the quote; it counts it after the commit.
	eventually(t, "a process counts the deleted quote", func() bool {
		for _, server := range []*process{h.server, second} {
			if _, metrics := getText(t, server.adminURL()+"/metrics"); strings.Contains(metrics,
				`causeway_retention_deleted_rows_total{table="quotes"} 1`) {
				return true
			}
		}
		return false
	})
}

// endFirstPartition ends the first partition of a table that is still empty some time ago.
func (h *testEnv) endFirstPartition(parent, ago string) {
	h.t.Helper()
	h.exec(fmt.Sprintf(`DO $$ BEGIN
		ALTER TABLE %[1]s DETACH PARTITION %[1]s_first;
		EXECUTE format('ALTER TABLE %[1]s ATTACH PARTITION %[1]s_first FOR VALUES FROM (MINVALUE) TO (%%L)',
			first_uuid_v7(date_trunc('day', now(), 'UTC') - interval '%[2]s'));
	END $$`, parent, ago))
}
