package conformance_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/conformance"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/rail"
	"causeway/core/signedmessage"
)

const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

type theSecret struct{}

func (theSecret) Secret(context.Context, string) ([]byte, error) { return []byte(secret), nil }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// newSuite returns a suite that tests a sidecar with a fault, which runs until the test ends.
func newSuite(t *testing.T, fault partnertest.Fault, timeout time.Duration, skip ...string) *conformance.Suite {
	t.Helper()
	secrets, err := signedmessage.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	sidecar := partnertest.New(secrets, time.Now)
	sidecar.Fault = fault
	server := httptest.NewServer(sidecar)
	t.Cleanup(server.Close)
	suite, err := conformance.New(t.Context(),
		conformance.Options{Connection: rail.Connection{Settings: map[string]string{"url": server.URL, "secret": "file:/secret"}},
			Secrets: theSecret{}, Clock: systemClock{}, Timeout: timeout,
			Kinds: []partner.Kind{partner.Payout, partner.Collection, partner.Refund}, Rail: "RTP", Currency: "USD",
			Account: conformance.DefaultAccount(), Sends: true, Skip: skip})
	if err != nil {
		t.Fatal(err)
	}
	callback := httptest.NewServer(suite)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sidecar.Run(ctx, callback.URL, 5*time.Millisecond)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		callback.Close()
	})
	return suite
}

// rules are the names of all rules, in their order.
var rules = strings.Fields(
	`health unsigned changed old two-secrets balances events unknown settle-payout settle-collection settle-refund once at-once
	conflict amount reject reject-later pending busy lost-answer kind return payment-event receipt reversal fee event-id cursor limit
	send send-signed send-body send-again`)

func TestSuite_SidecarFollowsAllRules(t *testing.T) {
	t.Parallel()
	// A sidecar without faults passes every rule, each of which is reported once.
	var reported []string
	failed := newSuite(t, "", time.Minute).Run(t.Context(), func(r conformance.Result) {
		reported = append(reported, r.Rule)
		if r.Err != nil {
			t.Errorf("%s: %v", r.Rule, r.Err)
		}
	})
	if failed != 0 || !slices.Equal(reported, rules) {
		t.Errorf("%d failed of %v, want %v", failed, reported, rules)
	}
}

func TestSuite_NamesEachFault(t *testing.T) {
	t.Parallel()
	// Whatever a sidecar does wrong, there is a rule for it, which says what it is.
	for fault, want := range map[partnertest.Fault]struct{ rule, text string }{
		partnertest.AcceptsUnsigned:   {"unsigned", "without a signature was answered as a success, not with 401"},
		partnertest.IgnoresBody:       {"changed", "POST /payouts that was changed after it was signed was answered as a success, not with 401"},
		partnertest.AcceptsOld:        {"old", "that was signed an hour ago was answered as a success"},
		partnertest.NoHealth:          {"health", "status 404"},
		partnertest.AnswersNotInJSON:  {"health", "Content-Type other than application/json"},
		partnertest.NoBalances:        {"balances", "status 404"},
		partnertest.DoubleBalances:    {"balances", "USD has two balances"},
		partnertest.KnowsEverything:   {"unknown", "was not answered with 404"},
		partnertest.AnswersOtherID:    {"settle-payout", "its id differs from the request"},
		partnertest.RedirectsRequests: {"settle-payout", "status 308, and redirects are not followed"},
		partnertest.SettlesNothing:    {"settle-refund", `the status is "ACCEPTED" after`},
		partnertest.PaysAgain:         {"once", "changed the balance from"},
		partnertest.NewPartnerID:      {"at-once", "the partnerId was"},
		partnertest.IgnoresConflicts:  {"conflict", "was not answered with 409"},
		partnertest.RoundsAmounts:     {"amount", "another amount than the request"},
		partnertest.OmitsCodes:        {"reject", "code is required with the status REJECTED"},
		partnertest.RejectsWhenBusy:   {"busy", "the first answer is the status REJECTED, and not 503 or 429"},
		partnertest.TakesWhenBusy:     {"busy", "that was refused for now was answered as a success, not with 404"},
		partnertest.AlwaysBusy:        {"busy", "still refused"},
		partnertest.HoldsForever:      {"pending", `the status is "PENDING" after`},
		partnertest.ForgetsLost:       {"lost-answer", "a payment whose answer was lost: GET /payouts/{id}: the answer has the status 404"},
		partnertest.ReturnsNothing:    {"return", "and not RETURNED"},
		partnertest.OmitsPlatform:     {"payment-event", "payment.platformId must be that of the request"},
		partnertest.ForgetsEvents:     {"payment-event", "is listed after"},
		partnertest.OmitsReference:    {"receipt", "no event RECEIPT with the reference TEST-"},
		partnertest.NamesNoReceipt:    {"reversal", "no event REVERSAL with the receiptId R-"},
		partnertest.SameEventID:       {"event-id", "has more than one event"},
		partnertest.OldCursorsExpire:  {"cursor", "that were listed before are listed again"},
		partnertest.SendsNothing:      {"send", "no message with an event arrived"},
		partnertest.SendsUnsigned:     {"send-signed", "no signature in webhook-signature is valid"},
		partnertest.SendsOldTimes:     {"send-signed", "more than 5 minutes from now"},
		partnertest.SendsOnce:         {"send-again", "no message a second time"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			needed, timeout := []string{want.rule}, 5*time.Second
			switch want.rule {
			case "event-id", "cursor":
				needed = append(needed, "payment-event") // so that there are events
				timeout = time.Minute                    // nothing waits to its end
			case "send", "send-signed":
				needed = append(needed, "settle-payout")
			}
			skipped := slices.DeleteFunc(slices.Clone(rules), func(name string) bool { return slices.Contains(needed, name) })
			err := errors.New("it was not checked")
			failed := newSuite(t, fault, timeout, skipped...).Run(t.Context(), func(r conformance.Result) {
				if r.Rule == want.rule {
					err = r.Err
				}
			})
			if failed == 0 || err == nil || !strings.Contains(err.Error(), want.text) {
				t.Errorf("%d rules fail, and %s says %v; want %q", failed, want.rule, err, want.text)
			}
		})
	}
}

func TestNew_ChecksOptions(t *testing.T) {
	t.Parallel()
	// What the suite cannot work with is said before anything is sent.
	for want, change := range map[string]func(*conformance.Options){
		"at least one kind":             func(o *conformance.Options) { o.Kinds = nil },
		"at least one kind is required": func(o *conformance.Options) { o.Kinds = []partner.Kind{"GIFT"} },
		`no rule "heath"`:               func(o *conformance.Options) { o.Skip = []string{"heath"} },
		"url: must be a URL":            func(o *conformance.Options) { o.Connection.Settings["url"] = "http://partner.example.com" },
	} {
		o := conformance.Options{Connection: rail.Connection{Settings: map[string]string{"url": "https://partner.example.com",
			"secret": "file:/secret"}}, Secrets: theSecret{}, Clock: systemClock{}, Timeout: time.Second,
			Kinds: []partner.Kind{partner.Payout}, Rail: "RTP", Currency: "USD"}
		change(&o)
		if _, err := conformance.New(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
