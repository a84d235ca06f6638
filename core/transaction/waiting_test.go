package transaction_test

import (
	"strings"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/transaction"
)

func TestPendingReason_SaysForWhomAPaymentWaits(t *testing.T) {
	t.Parallel()
	// A payment in review waits for the operator, and one whose sender wants facts about the receiver for the platform: until it has
	// ended, or was approved.
	mandatory := &transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}}}
	optional := &transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME"}}}
	approved := &transaction.Approval{Requested: mandatory.Requested, ApprovedAt: noon}
	pending, failed := transaction.State{Status: transaction.Pending}, transaction.State{Status: transaction.Failed}
	for name, c := range map[string]struct {
		t    transaction.Transaction
		want transaction.PendingReason
	}{
		"nothing":      {transaction.Transaction{State: pending}, ""},
		"review":       {transaction.Transaction{State: pending, InReview: true}, transaction.ComplianceReview},
		"in transit":   {transaction.Transaction{State: inTransit, InReview: true}, transaction.ComplianceReview},
		"review ended": {transaction.Transaction{State: failed, InReview: true}, ""},
		"facts": {transaction.Transaction{Type: transaction.Incoming, State: pending, Approval: mandatory},
			transaction.CounterpartyInformationRequired},
		"optional facts": {transaction.Transaction{Type: transaction.Incoming, State: pending, Approval: optional}, ""},
		"approved":       {transaction.Transaction{Type: transaction.Incoming, State: pending, Approval: approved}, ""},
		"rejected":       {transaction.Transaction{Type: transaction.Incoming, State: failed, Approval: mandatory}, ""},
	} {
		if got := c.t.PendingReason(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

var inTransit = transaction.State{Status: transaction.Processing, Stage: transaction.Converted}

func TestWait_RecordsWhatHasChanged(t *testing.T) {
	t.Parallel()
	// What a rail says about a payment that waits is recorded once; only a payout in transit is expected to settle. The time is kept
	// if nothing new is said, and counted from the creation.
	day := noon.Add(24 * time.Hour)
	for name, c := range map[string]struct {
		state      transaction.State
		before     time.Time
		settlement time.Time
		review     bool
		want       time.Time
		changed    bool
	}{
		"expected":       {inTransit, time.Time{}, day, false, day, true},
		"again":          {inTransit, day, day, false, day, false},
		"nothing new":    {inTransit, day, time.Time{}, false, day, false},
		"review":         {inTransit, day, time.Time{}, true, day, true},
		"not in transit": {transaction.State{Status: transaction.Processing}, time.Time{}, day, false, time.Time{}, false},
	} {
		before := transaction.Transaction{State: c.state, CreatedAt: noon, UpdatedAt: noon, ExpectedSettlementAt: c.before}
		d, changed := before.Wait(c.settlement, c.review)
		got := d.Transaction
		if changed != c.changed || !got.ExpectedSettlementAt.Equal(c.want) ||
			got.InReview != c.review || got.UpdatedAt != noon || len(d.Events) > 0 {
			t.Errorf("%s: %v, %+v", name, changed, got)
		}
		if timeline := got.SettlementTimeline(); timeline != 0 != !c.want.IsZero() || timeline != 0 && timeline != 24*time.Hour {
			t.Errorf("%s: the timeline is %s", name, timeline)
		}
	}
}

func TestOriginatorOf(t *testing.T) {
	t.Parallel()
	// What a partner says about the payment comes before what the account of the payer adds. The account is masked, texts are on one
	// line and bounded, and nothing known is nil.
	payer := &account.External{Type: "EUR_ACCOUNT", Fields: map[string]string{"iban": "DE89370400440532013000", "swiftCode": "COBADEFFXXX",
		"bankName": "Commerzbank"}, Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Ana Silva"}}
	for name, c := range map[string]struct {
		payer *account.External
		known transaction.Originator
		want  *transaction.Originator
	}{
		"nothing": {},
		"the account": {payer: payer,
			want: &transaction.Originator{Name: "Ana Silva", Account: "****3000", BankName: "Commerzbank", Bank: "COBADEFFXXX"}},
		"the payment": {known: transaction.Originator{Name: " Bo\nLin ", Account: "12345678", EndToEndID: "E1", TraceNumber: "T1",
			Remittance: "rent"},
			want: &transaction.Originator{Name: "Bo Lin", Account: "****5678", EndToEndID: "E1", TraceNumber: "T1", Remittance: "rent"}},
		"both": {payer: payer, known: transaction.Originator{Name: "A. Silva", Bank: "DEUTDEFF"},
			want: &transaction.Originator{Name: "A. Silva", Account: "****3000", BankName: "Commerzbank", Bank: "DEUTDEFF"}},
		"too long": {known: transaction.Originator{Remittance: strings.Repeat("x", 2000)},
			want: &transaction.Originator{Remittance: strings.Repeat("x", 1000)}},
	} {
		got := transaction.OriginatorOf(c.payer, c.known)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestRemittance_LimitAndRailSelection(t *testing.T) {
	t.Parallel()
	// Eighty characters are accepted whatever their bytes, and sent on one line; a rail is chosen by the request or by the service.
	for text, valid := range map[string]bool{"": true, strings.Repeat("ü", 80): true, strings.Repeat("a", 81): false} {
		if bad := transaction.CheckRemittance(text); (len(bad) == 0) != valid {
			t.Errorf("%d bytes: %v", len(text), bad)
		}
	}
	if got := transaction.RemittanceLine(" Invoice\r\n7 "); got != "Invoice 7" {
		t.Errorf("the line is %q", got)
	}
	if got := (transaction.Transaction{Description: "note"}).TextForBeneficiary(); got != "note" {
		t.Errorf("without a text: %q", got)
	}
	if got := (transaction.Transaction{Description: "note", Remittance: "rent"}).TextForBeneficiary(); got != "rent" {
		t.Errorf("with a text: %q", got)
	}
	for _, c := range []struct {
		wanted, chosen corridor.Rail
		want           transaction.RailSelection
	}{{"", corridor.RTP, transaction.RailAuto}, {corridor.ACH, corridor.ACH, transaction.RailManual}, {"", corridor.Base, ""}} {
		if got := transaction.SelectionOf(c.wanted, c.chosen); got != c.want {
			t.Errorf("%s of %q: %q", c.chosen, c.wanted, got)
		}
	}
}
