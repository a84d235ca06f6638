package sandbox_test

import (
	"testing"
	"time"

	"causeway/adapters/rails/sandbox"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestRail_CollectOutcomeByAccountNumber(t *testing.T) {
	t.Parallel()
	// The last digits of the account number select the outcome of a transfer in. Only 005 is
	// pending, for 30 seconds divided by the speed.
	const half = 30 * time.Second
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed}
	for _, test := range []struct {
		number string
		speed  int
		after  time.Duration
		want   ports.Outcome
	}{
		{"421000001", 1, 0, ports.Outcome{Verdict: ports.Done}},
		{"421000002", 1, 0, refused},
		{"421000003", 1, 0, refused},
		{"421000004", 1, 0, refused},
		{"421000203", 1, 0, ports.Outcome{Verdict: ports.Refused, Reason: transaction.ComplianceRejected}},
		{"421000201", 1, 0, ports.Outcome{Verdict: ports.Done}}, // of payouts alone
		{"421000005", 1, 0, ports.Outcome{Verdict: ports.Waiting, RetryAt: noon.Add(half)}},
		{"421000005", 1, half - time.Millisecond, ports.Outcome{Verdict: ports.Waiting, RetryAt: noon.Add(half)}},
		{"421000005", 1, half, refused},
		{"421000005", 30, time.Second, refused},
		{"421000006", 30, 0, ports.Outcome{Verdict: ports.Done, RetryAt: noon.Add(5 * time.Second / 30)}},
		{"421000005", 30, 0, ports.Outcome{Verdict: ports.Waiting, RetryAt: noon.Add(time.Second)}},
	} {
		from := account.External{Currency: "USD", Type: account.USAccount, Fields: map[string]string{"accountNumber": test.number}}
		collection := ports.Collection{Account: from, Transaction: transaction.Transaction{UpdatedAt: noon}}

		got := sandbox.New(fixedClock(noon.Add(test.after)), test.speed).Collect(t.Context(), []ports.Collection{collection})

		if len(got) != 1 || got[0] != test.want {
			t.Errorf("%s after %s at speed %d: %+v; want %+v", test.number, test.after, test.speed, got, test.want)
		}
	}
}

func TestRail_CollectionTakenBack(t *testing.T) {
	t.Parallel()
	// The end 006 has a collection taken back 5 seconds after its transaction ended, with the code of its rail; other ends never.
	settled := noon.Add(-time.Hour)
	for _, test := range []struct {
		number string
		rail   corridor.Rail
		after  time.Duration
		want   ports.Outcome
	}{
		{"421000001", "ACH", 24 * time.Hour, ports.Outcome{Verdict: ports.Done}},
		{"421000005", "ACH", 24 * time.Hour, ports.Outcome{Verdict: ports.Done}},
		{"421000006", "ACH", 4 * time.Second, ports.Outcome{Verdict: ports.Done, RetryAt: settled.Add(5 * time.Second)}},
		{"421000006", "ACH", 5 * time.Second, ports.Outcome{Verdict: ports.Returned, Code: "R01"}},
		{"421000006", "SEPA", time.Minute, ports.Outcome{Verdict: ports.Returned, Code: "AM04"}},
	} {
		from := account.External{Currency: "USD", Type: account.USAccount, Fields: map[string]string{"accountNumber": test.number}}
		collection := ports.Collection{Account: from, Transaction: transaction.Transaction{UpdatedAt: noon.Add(-2 * time.Hour),
			SettledAt: settled, SourceRail: test.rail}}

		got := sandbox.New(fixedClock(settled.Add(test.after)), 1).CollectionStatus(t.Context(), []ports.Collection{collection})[0]

		if got.Verdict == ports.Returned && (!got.ReturnedAt.Equal(settled.Add(5*time.Second)) || got.PartnerID == "" || got.Text == "") {
			t.Errorf("%+v", got)
		}
		got.ReturnedAt, got.PartnerID, got.Text = time.Time{}, "", ""
		if got != test.want {
			t.Errorf("%s over %s after %s: %+v; want %+v", test.number, test.rail, test.after, got, test.want)
		}
	}
}
