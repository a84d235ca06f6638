package faults

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"causeway/e2e/kit"
)

// check compares everything with what the accepted payments must have led to. Between two loads it compares each payment once, and
// what all of them add up to each time.
func (l *load) check() {
	l.t.Helper()
	l.awaitEnd()
	l.checkTransactions()
	l.checkAgents()
	l.checkBalances()
	l.checkLedger()
	l.checked = len(l.payments)
	byKind := map[string]int{}
	for _, p := range l.payments {
		byKind[p.kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		l.t.Logf("%5d × %s", byKind[kind], kind)
	}
	l.t.Logf("%5d payments, %d repeated requests, %d deliveries of %d events", len(l.payments), l.repeats.Load(), l.receiver.count,
		len(l.receiver.seen))
}

// awaitEnd returns when no job and no event is left. The quotes expire at once: all were paid, so this
// changes nothing.
func (l *load) awaitEnd() {
	l.t.Helper()
	const left = `
		SELECT coalesce(string_agg(n || ' ' || what, ', '), '') FROM (
			SELECT 'jobs of step ' || step || ' after ' || max(attempts) || ' attempts, due at ' || max(due_at) AS what, count(*) AS n FROM jobs GROUP BY step
			UNION ALL SELECT 'events', count(*) FROM webhook_queue HAVING count(*) > 0
			UNION ALL SELECT 'events in the backlog', count(*) FROM webhook_backlog HAVING count(*) > 0) t`
	if _, err := l.db.ExecContext(waitContext(l.t), "UPDATE jobs SET due_at = now() WHERE step = 'expire'"); err != nil {
		l.t.Fatal(err)
	}
	var remaining string
	l.eventually(func() string { return "the end of " + remaining }, func() bool {
		if err := l.db.QueryRowContext(waitContext(l.t), left).Scan(&remaining); err != nil {
			l.t.Fatal(err)
		}
		return remaining == ""
	})
}

// checkTransactions compares the transactions and their events, and that there are no others.
func (l *load) checkTransactions() {
	l.t.Helper()
	want := 2 * len(l.customers) // deposits
	for n, p := range l.payments {
		if p.transactionID == "" {
			continue
		}
		want += 1 + p.arrivals
		if n < l.checked {
			continue
		}
		got := l.mustCall(http.MethodGet, "/transactions/"+p.transactionID, nil, http.StatusOK)
		if got.text("status") != p.status || got.text("refund.status") != p.refund {
			l.t.Errorf("%s: want %s and refund %q: %s", p.kind, p.status, p.refund, got.body)
		}
		if events := l.receiver.eventsOf(p.transactionID); !slices.Equal(events, p.events) {
			l.t.Errorf("%s %s: the events are %v, want %v", p.kind, p.transactionID, events, p.events)
		}
	}
	for what, c := range map[string]struct {
		query string
		want  int
	}{
		"transactions": {"SELECT count(*) FROM transactions", want},
		"transactions that are not final": {"SELECT count(*) FROM transactions WHERE status NOT IN ('COMPLETED', 'FAILED') OR " +
			"refund_status NOT IN ('', 'COMPLETED')", 0},
		"transactions posted more than once in a kind": {"SELECT count(*) FROM (SELECT FROM ledger_postings GROUP BY transaction_id, kind " +
			"HAVING count(*) > 1) t", 0},
		"incoming payments without their last event": {"SELECT count(*) FROM transactions WHERE direction = 'INCOMING'",
			l.receiver.ended("INCOMING_PAYMENT.")},
	} {
		if got := l.queryInt(c.query); got != int64(c.want) {
			l.t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

// losses returns how many accepted payments are not in the database, how many postings or transactions are there twice, and of how
// many transactions an event was sent under two ids.
func (l *load) losses() (lost, doubled, toldTwice int64) {
	l.t.Helper()
	want := int64(2 * len(l.customers)) // deposits
	var ids []string
	for _, p := range l.payments {
		if p.transactionID != "" {
			_, id, _ := strings.Cut(p.transactionID, ":")
			ids, want = append(ids, id), want+1+int64(p.arrivals)
		}
	}
	lost = l.queryInt(`SELECT count(*) FROM unnest($1::uuid[]) AS accepted(id)
		WHERE NOT EXISTS (SELECT FROM transactions t WHERE t.id = accepted.id)`, ids)
	doubled = l.queryInt("SELECT count(*) FROM (SELECT FROM ledger_postings GROUP BY transaction_id, kind HAVING count(*) > 1) t") +
		max(0, l.queryInt("SELECT count(*) FROM transactions")+lost-want)
	return lost, doubled, l.receiver.toldTwice()
}

// toldTwice returns of how many transactions an event was sent under two ids.
func (r *receiver) toldTwice() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, events := range r.events {
		if sorted := slices.Sorted(slices.Values(events)); len(slices.Compact(sorted)) < len(events) {
			n++
		}
	}
	return n
}

// eventsOf returns the events of a transaction.
func (r *receiver) eventsOf(transaction string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[transaction]
}

// ended returns how many transactions have a last event with a prefix.
func (r *receiver) ended(prefix string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, events := range r.events {
		if last := events[len(events)-1]; last == prefix+"COMPLETED" || last == prefix+"FAILED" {
			n++
		}
	}
	return n
}

// checkBalances compares the balances of the customers, in responses and in their last events, and
// those of the ledger's other accounts.
func (l *load) checkBalances() {
	l.t.Helper()
	want := map[string]int64{"rails/RTP USD": -initialBalance * int64(len(l.customers)),
		"chains/LAYER2 USDB": -initialCoins * int64(len(l.customers))}
	for _, c := range l.customers {
		want[c.account], want[c.embedded] = initialBalance, initialCoins
	}
	for _, p := range l.payments {
		for account, amount := range p.moves {
			want[account] += amount
		}
	}
	for _, c := range l.customers {
		for currency, id := range map[string]string{"USD": c.account, "USDB": c.embedded} {
			account := l.mustCall(http.MethodGet, "/customers/internal-accounts?currency="+currency+"&customerId="+c.id, nil, http.StatusOK)
			balance, notified := account.text("data.0.balance.amount"), l.receiver.balanceOf(id)
			if expected := fmt.Sprint(want[id]); balance != expected || notified != expected {
				l.t.Errorf("the balance of %s is %s and in its last event %s, want %s", id, balance, notified, expected)
			}
			delete(want, id)
		}
	}
	maps.DeleteFunc(want, func(_ string, amount int64) bool { return amount == 0 })
	if got := l.ledgerBalances(); !maps.Equal(got, want) {
		l.t.Errorf("the balances in the ledger are\n%v, want\n%v", got, want)
	}
}

func (r *receiver) balanceOf(account string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.balances[account]
}

// ledgerBalances adds up the entries of all accounts but those of customers and those in which the
// service keeps what it earns and exchanges.
func (l *load) ledgerBalances() map[string]int64 {
	l.t.Helper()
	rows, err := l.db.QueryContext(waitContext(l.t), `
		SELECT path || ' ' || e.currency, sum(amount) FROM (
			SELECT platform_id, credit_account_id AS account, currency, amount FROM ledger_entries
			UNION ALL SELECT platform_id, debit_account_id, currency, -amount FROM ledger_entries) e
		JOIN ledger_accounts a ON a.platform_id = e.platform_id AND a.id = e.account
		WHERE path !~ '^(customers|wallets|income|fx)/' GROUP BY 1 HAVING sum(amount) <> 0`)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var name string
		var amount int64
		if err := rows.Scan(&name, &amount); err != nil {
			l.t.Fatal(err)
		}
		found[name] = amount
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return found
}

// checkLedger runs the service's own checks, of the entries and of the sealed log.
func (l *load) checkLedger() {
	l.t.Helper()
	l.eventually(func() string { return "all postings are sealed" }, func() bool {
		log := l.mustCall(http.MethodGet, "/ledger/log", nil, http.StatusOK)
		return log.text("postings") == log.text("sealed")
	})
	for _, command := range []string{"check", "verify"} {
		args := []string{"ledger", command}
		if command == "verify" && l.checkpoints != "" {
			args = append(args, "--checkpoints", l.checkpoints)
		}
		result, err := kit.MustSucceed(waitContext(l.t), kit.Command{Program: binary, Args: args,
			Env: []string{"DATABASE_URL=" + l.ownerURL}})
		if err != nil {
			l.t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(result.Output), "\n")
		l.t.Logf("ledger %s: %s", command, lines[len(lines)-1])
	}
}
