package audit_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/audit"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// storedReceivables is a ReceivableAudit.
type storedReceivables []ports.ReceivableDetails

func (s storedReceivables) AuditedReceivables(_ context.Context, _ ident.Platform, each func(ports.ReceivableDetails) error) error {
	for _, d := range s {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}

// newReceivable returns one of 100 cents of which 20 were collected and 80 written off.
func (e *env) newReceivable() ports.ReceivableDetails {
	usd := money.Amount{Minor: 100, Currency: "USD"}
	t := transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, noon), Platform: e.platform, Type: transaction.Incoming,
		SourceAccount: "rails/RTP", Reference: "REF",
		Pricing: transaction.Pricing{Sent: usd, Received: usd}}
	owner := account.Internal{ID: ident.NewInternalAccount(e.IDs.New, noon), Platform: e.platform, Currency: "USD", Type: account.InternalFiat}
	d := ports.ReceivableDetails{}
	var c receivable.Change
	d.Receivable, c = receivable.New(ident.NewReceivable(e.IDs.New, noon), t, owner,
		receivable.Return{ReasonCode: "R01", ReturnedAt: noon}).Open(noon)
	d.Changes = append(d.Changes, c)
	d.Receivable, c, _ = d.Collect(20, 1, noon)
	d.Changes = append(d.Changes, c)
	d.Receivable, c, _ = d.WriteOff(platform.Author{}, "Gone", 2, noon)
	d.Changes = append(d.Changes, c)
	return d
}

func TestCheck_Receivables(t *testing.T) {
	t.Parallel()
	// The changes of a receivable come to its amounts, and each has its posting; no other posting is on the accounts
	// of receivables. Whatever differs is named.
	env := newEnv(t)
	d := env.newReceivable()
	header := ledger.Header{ID: env.IDs.New(noon), Platform: env.platform, Effective: noon}
	env.mustPost(ledger.Deposit(header, ledger.IncomingFunds{Partner: "rails/RTP", To: d.AccountPath,
		Amount: money.Amount{Minor: 20, Currency: "USD"}}))
	for _, c := range d.Changes {
		env.mustPost(d.PostingFor(c))
	}
	later := ledger.UnmatchedReceived(ledger.Header{ID: env.IDs.New(noon), Platform: env.platform, Effective: noon}, "rails/RTP",
		money.Amount{Minor: 1, Currency: "USD"})
	if err := env.post(noon.Add(time.Hour), later); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		edit func(storedReceivables) storedReceivables
		want []string
	}{
		"as it should be": {func(s storedReceivables) storedReceivables { return s }, nil},
		"deleted": {func(storedReceivables) storedReceivables { return nil },
			[]string{"(collection_returned,", "(receivable_collected,", "(receivable_written_off,"}},
		"its amount was changed": {func(s storedReceivables) storedReceivables { s[0].Collected = 30; return s },
			[]string{"does not match its changes: it is WRITTEN_OFF with 30 collected"}},
		"its account was changed": {func(s storedReceivables) storedReceivables { s[0].AccountPath = "platform/x"; return s },
			[]string{"(number 3 on " + env.platform.String() + ") is not what receivable " + d.ID.String()}},
		"a change was removed": {func(s storedReceivables) storedReceivables { s[0].Changes = s[0].Changes[:2]; return s },
			[]string{"does not match", "(receivable_written_off,"}},
		"only its changes remain": {func(s storedReceivables) storedReceivables {
			s[0].Receivable = receivable.Receivable{ID: d.ID}
			return s
		}, []string{"does not exist, and has 3 changes", "belongs to no", "belongs to no", "belongs to no"}},
		"another was made up": {func(s storedReceivables) storedReceivables { return append(s, env.newReceivable()) },
			[]string{"which does not exist", "which does not exist", "which does not exist"}},
		"another partner was paid": {func(s storedReceivables) storedReceivables { s[0].Partner = "rails/ACH"; return s },
			[]string{"is not what receivable"}},
	} {
		copied := d
		copied.Changes = slices.Clone(d.Changes)
		report, err := env.newService(nil, func(s *sources) { s.ReceivableAudit = c.edit(storedReceivables{copied}) }).Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != len(c.want) {
			t.Errorf("%s: %v, want %q", name, report.Findings, c.want)
			continue
		}
		for i, want := range c.want {
			if f := report.Findings[i]; f.Rule != audit.RuleReceivables || !strings.Contains(f.Message, want) {
				t.Errorf("%s: %v, want %q", name, f, want)
			}
		}
	}
}
