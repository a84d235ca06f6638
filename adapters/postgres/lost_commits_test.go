package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestRememberedCommits_KeepTheLast(t *testing.T) {
	t.Parallel()
	// A process remembers a bounded number of commits: the last ones.
	var a rememberedCommits
	ids := make([]uuid.UUID, maxRemembered+10)
	for i := range ids {
		ids[i] = uuid.New()
		a.addPostings([]ledger.Posting{{ID: ids[i]}}, time.Time{})
	}
	kept := map[string]bool{}
	for _, p := range a.list {
		kept[p.lost().Reference] = true
	}
	if len(kept) != maxRemembered {
		t.Fatalf("kept %d", len(kept))
	}
	for i, id := range ids {
		if kept[id.String()] != (i >= 10) {
			t.Fatalf("posting %d of %d: kept %t", i, len(ids), !kept[id.String()])
		}
	}
}

func TestRememberedCommits_NamesThoseThatADatabaseLacks(t *testing.T) {
	t.Parallel()
	// Of what a process remembers, postings and delivered events that the database does not have are lost. An event that may have been
	// deleted since is not.
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	clock, generator := portstest.NewFakeClock(now), ids.New()
	url := pgtest.SimulateClock(t, pgtest.New(t))
	db, err := Open(t.Context(), Options{URL: url, AllPlatforms: true, Clock: clock, IDs: generator})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	p, err := platform.New(ident.NewPlatform(generator.New, now), "Here", platform.Sandbox, false, now)
	if err != nil {
		t.Fatal(err)
	}
	deposit := func() ledger.Posting {
		return ledger.Deposit(ledger.Header{ID: uuid.New(), Platform: p.ID, Effective: now}, ledger.IncomingFunds{Partner: ledger.Rail("ACH"),
			To: ledger.CustomerAccount(ident.NewInternalAccount(generator.New, now)), Amount: money.Amount{Minor: 1, Currency: money.USD}})
	}
	kept, lost := deposit(), deposit()
	err = db.Do(t.Context(), func(ctx context.Context, tx *Unit) error {
		if err := tx.CreatePlatform(ctx, p); err != nil {
			return err
		}
		return tx.Post(ctx, []ledger.Posting{kept})
	})
	if err != nil {
		t.Fatal(err)
	}
	delivered := func() ports.QueuedWebhook {
		return ports.QueuedWebhook{Platform: p.ID, ID: ident.NewWebhook(generator.New, now), Subject: uuid.New(),
			Name: event.OutgoingPaymentCompleted}
	}
	old, known, unknown := delivered(), delivered(), delivered()
	pgtest.ExecAsSuperuser(t, url, fmt.Sprintf(`INSERT INTO webhook_events (platform_id, id, subject_id, type, name, created_at, body)
		VALUES ('%s', '%s', '%s', '%s', '%s', now(), '{}')`, p.ID.UUID(), known.ID.UUID(), known.Subject, event.OutgoingPayment, known.Name))
	db.RememberDelivery(old)
	clock.Advance(rememberedFor + time.Second)
	db.RememberDelivery(known)
	db.RememberDelivery(unknown)
	db.RememberDelivery(unknown) // an event can be delivered twice
	db.remembered.addPostings([]ledger.Posting{kept, lost}, clock.Now())
	conn, err := db.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })

	n, err := db.remembered.check(t.Context(), conn, clock)
	found, errList := db.LostCommits(t.Context(), 1, 10)
	if err != nil || errList != nil || n != 3 || len(found) != 2 {
		t.Fatalf("%d are lost, %v: %+v, %v", n, err, found, errList)
	}
	for _, c := range found {
		switch c.Kind {
		case ports.LostEvent:
			if c.Reference != unknown.Name+" "+unknown.ID.String() || c.Transaction.UUID() != unknown.Subject {
				t.Errorf("event %+v", c)
			}
		default:
			if c.Kind != ports.LostPosting || !strings.HasSuffix(c.Reference, lost.ID.String()) {
				t.Errorf("%+v", c)
			}
		}
	}
	if n, err := db.remembered.check(t.Context(), conn, clock); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestLostCommits_AreLookedUpByKey(t *testing.T) {
	t.Parallel()
	// A process that follows a failover looks up all that it remembers, before its first statement. Each is found by its key: the
	// conditions of row security are no reason to read all postings of a platform for each.
	env := newPlanEnv(t)
	env.becomeService()
	for name, statement := range map[string]string{"missing_commits": missingCommits, "new_commits": newLostCommits} {
		plan := strings.Join(env.explain(name, statement, countArguments(statement)), "\n")
		keys, want := "Index Cond: ((platform_id = w.platform_id) AND (id = ", 2 // and those of partitions
		if name == "new_commits" {
			keys, want = "Index Cond: ((platform_id = w.platform_id) AND (kind = w.kind) AND (reference = w.reference))", 1
		}
		if strings.Count(plan, keys) < want || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s does not look rows up by their key:\n%s", name, plan)
		}
	}
}
