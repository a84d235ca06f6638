package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

var receiptID = numbered(ident.Receipt{}, 35)

func (f *fakeAccounting) Unmatched(ctx context.Context, p ident.Platform, filter ports.UnmatchedFilter) (page ports.UnmatchedPage,
	err error) {
	for _, u := range f.unmatched {
		if filter.Assigned == nil || *filter.Assigned == (u.Assignment != nil) {
			page.Items = append(page.Items, u.Unmatched)
		}
	}
	page.More = len(page.Items) > 0 && filter.After == uuid.Nil
	return page, f.read(ctx, p, "unmatched funds")
}

func (f *fakeAccounting) CountUnmatched(ctx context.Context, p ident.Platform, _ int) (int, error) {
	return f.waitingFunds, f.read(ctx, p, "unmatched funds")
}

func (f *fakeAccounting) UnmatchedOf(ctx context.Context, p ident.Platform, receipt ident.Receipt) (accounting.UnmatchedDetails, error) {
	if err := f.read(ctx, p, "unmatched funds of %s", receipt); err != nil {
		return accounting.UnmatchedDetails{}, err
	}
	if i := slices.IndexFunc(f.unmatched, func(u accounting.UnmatchedDetails) bool { return u.Receipt.ID == receipt }); i >= 0 {
		return f.unmatched[i], nil
	}
	return accounting.UnmatchedDetails{}, fault.New(fault.NotFound, "No unmatched payment has the id %s.", receipt)
}

func (f *fakeAccounting) AssignUnmatched(ctx context.Context, p ident.Platform, by platform.Author, a accounting.AssignCommand,
	_ *ports.IdempotentRequest) (done proposal.Outcome[transaction.Unmatched], err error) {
	f.acted(by.Person.UUID())
	pending := newProposal().Proposal
	done.Proposal = &pending
	return done, f.read(ctx, p, "assign %s to %s%s by %s: %s", a.Receipt, a.Transaction, a.Account, by, a.Note)
}

// failRefund makes the refund of the payment fail, whose money was received with the receipt.
func (s *site) failRefund() *accounting.UnmatchedDetails {
	s.accounting.timeline.Transaction.State.Refund = transaction.RefundUnpaid
	u := transaction.Unmatched{RefundOf: paymentID, FundedBy: receiptID, Kind: ledger.KindRefundFailed, SourceAccount: "rails/ACH",
		Posting: postingID, Since: now, Receipt: transaction.Receipt{Amount: usd(100_50), Reference: "CWREF123", Rail: "ACH"}}
	u.Receipt.ID.SetUUID(paymentID.UUID())
	s.accounting.unmatched = append([]accounting.UnmatchedDetails{{Unmatched: u}}, s.accounting.unmatched...)
	return &s.accounting.unmatched[0]
}

func TestRefund_OnThePageOfItsPayment(t *testing.T) {
	t.Parallel()
	// The page of a payment whose refund failed says where its money is and what was decided, and leads who may decide to that.
	page, button := base+"/payments/"+paymentID.UUID().String(), base+"/unmatched/%s/assign"
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	u := s.failRefund()
	want := func(when string, wants ...string) {
		t.Helper()
		got := s.get(page).body
		for _, want := range wants {
			if want, unwanted := strings.CutPrefix(want, "no "); strings.Contains(got, want) == unwanted {
				t.Errorf("%s: %q in %s", when, want, got)
			}
		}
	}
	first, second := fmt.Sprintf(button, paymentID.UUID()), fmt.Sprintf(button, receiptID.UUID())

	want("failed", "Refund again", first, "rests in the unmatched funds", "100.50 USD")
	u.Assignment = &transaction.Assignment{Note: "It is open again", By: someone, At: now}
	u.Replies = []ports.RailReply{{At: now, Outcome: ports.Outcome{Verdict: ports.Refused, Code: "AC04", Text: "Ixchel account closed"}}}
	s.accounting.unmatched = s.accounting.unmatched[:1]
	want("sent again", "no Refund again", "its payer", "It is open again", "AC04", "no Ixchel")
	again := transaction.Unmatched{Kind: ledger.KindRefundFailed, Receipt: transaction.Receipt{ID: receiptID, Amount: usd(100_50)}}
	s.accounting.unmatched = append(s.accounting.unmatched, accounting.UnmatchedDetails{Unmatched: again})
	want("failed again", "Refund again", "no "+first, second, "failed again")
	s.as(person.Grant{Role: person.Support})
	want("support", "no Refund again", "failed again")
}

func TestRefundAgain_ShowsWhatTheRailHasSaid(t *testing.T) {
	t.Parallel()
	// Who confirms sees the answers to the refund that failed, without the partner's words. If the partner says since that it was paid, it
	// cannot be chosen.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	u := s.failRefund()
	u.Refund = []ports.RailReply{{At: now, Outcome: ports.Outcome{Verdict: ports.Refused, Code: "AC04", Text: "Ixchel account closed"}}}
	for _, paid := range []bool{false, true} {
		u.SaidPaid = paid
		got := s.get(base + "/unmatched/" + paymentID.UUID().String() + "/assign").body
		if !strings.Contains(got, "REFUSED AC04") || strings.Contains(got, "Ixchel") ||
			strings.Contains(got, "the refund was paid") != paid || strings.Contains(got, "back to its payer</option>") == paid {
			t.Errorf("said paid %t: %s", paid, got)
		}
	}
}

func TestHome_CountsUnmatchedFunds(t *testing.T) {
	t.Parallel()
	// The home page says how much waits, up to a limit.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	for want, n := range map[string]int{">1 payment or refund is unmatched": 1, ">20 payments or refunds are": 20,
		">20 or more payments or refunds are": 21} {
		s.accounting.waitingFunds = n
		if got := s.get(base); !strings.Contains(got.body, want) {
			t.Errorf("%d: no %q in %s", n, want, got.body)
		}
	}
	s.accounting.waitingFunds = 0
	if got := s.get(base); strings.Contains(got.body, "unmatched.") || strings.Contains(got.body, "are unmatched") {
		t.Errorf("nothing waits: %s", got.body)
	}
}

func TestUnmatched_ListLeadsToTheDecision(t *testing.T) {
	t.Parallel()
	// Money that waits is listed, with why, and each has a page that leads to the decision about it.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	s.failRefund()
	s.customers.accounts = []account.WithBalance{{Internal: account.Internal{ID: numbered(ident.InternalAccount{}, 16), Currency: "USD"}}}
	for path, wants := range map[string][]string{
		"/unmatched": {"the refund of a payment failed", "its owner is not known", "/unmatched/" + receiptID.UUID().String(), "after="},
		"/unmatched/" + receiptID.UUID().String():             {"12.50 USD", "T••• M•••", "/assign"},
		"/unmatched?state=assigned":                           {"There is no such money."},
		"/unmatched/" + paymentID.UUID().String() + "/assign": {"Refund again", "back to its payer", "account of the customer", "own account"},
	} {
		got := s.get(base + path)
		for _, want := range wants {
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, want) {
				t.Errorf("%s: %d, no %q in %s", path, got.StatusCode, want, got.body)
			}
		}
	}
	for _, path := range []string{"/unmatched?state=x", "/unmatched/x", "/unmatched/" + uuid.Nil.String() + "/assign"} {
		if got := s.get(base + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
	if got := newSite(t).fill().as(person.Grant{Role: person.Support}).get(base + "/unmatched/" + receiptID.UUID().String()); strings.Contains(
		got.body, "/assign") {
		t.Errorf("support has a button: %s", got.body)
	}
}

func TestUnmatched_WordsOfOthers(t *testing.T) {
	t.Parallel()
	// What the payer wrote as the reference is masked in the list, in its file and before it is assigned; so is, on its page, what a partner
	// said when it took the money back. Notes of people are not.
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	page := "/unmatched/" + receiptID.UUID().String()
	for _, path := range []string{"/unmatched", "/unmatched?file=csv", page, page + "/assign"} {
		if got := s.get(base + path); strings.Contains(got.body, "Tikal") || !strings.Contains(got.body, "T••• M•••") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	of := &transaction.Assignment{Note: "Hunahpu took it back", By: transaction.ReversedBy, At: now}
	s.accounting.unmatched[0].Assignment = of
	if got := s.get(base + page); strings.Contains(got.body, "Hunahpu") || !strings.Contains(got.body, "H••• t••• i•••") {
		t.Errorf("masked: %s", got.body)
	}
	if got := s.post(base+page, nil); !strings.Contains(got.body, "Hunahpu took it back") || !strings.Contains(got.body, "Tikal MARCH") ||
		len(s.people.recorded) != 1 {
		t.Errorf("recorded %q: %s", s.people.recorded, got.body)
	}
	if of.By = someone; !strings.Contains(s.get(base+page).body, "Hunahpu took it back") {
		t.Error("the note of a person is masked")
	}
	s.failRefund().Receipt.Reference = "Tikal MARCH"
	payment := base + "/payments/" + paymentID.UUID().String()
	if got := s.get(payment); strings.Contains(got.body, "Tikal") {
		t.Errorf("the refund of a payment: %s", got.body)
	}
	if got := s.post(payment, nil); !strings.Contains(got.body, "Tikal MARCH") {
		t.Errorf("the refund of a payment is not shown: %s", got.body)
	}
}

func TestUnmatched_Assigned(t *testing.T) {
	t.Parallel()
	// Money is assigned with a code, as the person, to what was chosen or named; that is recorded before.
	author := "Ada Lovelace (Token:" + newPerson().ID.UUID().String() + ")"
	accountID := numbered(ident.InternalAccount{}, 16)
	for name, test := range map[string]struct {
		form url.Values
		want string
	}{
		"payer":   {url.Values{"target": {"PAYER"}, "note": {"Sent"}}, fmt.Sprintf("to %s%s by", ident.Transaction{}, ident.InternalAccount{})},
		"account": {url.Values{"target": {accountID.String()}, "note": {"Sent"}}, fmt.Sprintf("to %s%s by", ident.Transaction{}, accountID)},
		"what is named": {url.Values{"target": {""}, "other": {" " + paymentID.String() + " "}, "note": {"Sent"}},
			fmt.Sprintf("to %s%s by", paymentID, ident.InternalAccount{})},
		"nothing": {url.Values{"target": {""}}, ""},
		"no code": {url.Values{"target": {"PAYER"}, "code": {"000000"}}, ""},
	} {
		s := newSite(t).fill().as(person.Grant{Role: person.Finance})
		if !test.form.Has("code") {
			test.form.Set("code", "123456")
		}
		got := s.post(base+"/unmatched/"+receiptID.UUID().String()+"/assign", test.form)
		assigned := slices.ContainsFunc(s.calls.log, func(call string) bool {
			return test.want != "" && strings.HasPrefix(call, "assign "+receiptID.String()+" "+test.want) && strings.HasSuffix(call, author+": Sent")
		})
		if assigned != (test.want != "") || assigned != (got.Header.Get("Location") == base+"/proposals/"+proposalID.UUID().String()) {
			t.Errorf("%s: %d to %s, calls %q", name, got.StatusCode, got.Header.Get("Location"), s.calls.log)
		}
	}
}
