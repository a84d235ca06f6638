package kit

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"causeway/adapters/identity/provider"
	"causeway/adapters/identity/provider/conformance"
)

const (
	identityToken  = "token-of-the-service"
	identitySecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// conform runs the suite against a provider with a fault, and returns why it breaks which rules.
func conform(t *testing.T, fault IdentityFault, timeout time.Duration) map[string]error {
	t.Helper()
	p := NewIdentityProvider(identityToken, identitySecret)
	t.Cleanup(p.Close)
	p.Fault = fault
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	secrets, err := provider.ParseSecrets(identitySecret)
	if err != nil {
		t.Fatal(err)
	}
	callbacks := httptest.NewUnstartedServer(nil)
	suite, err := conformance.New(conformance.Options{URL: server.URL, Token: identityToken, Secrets: secrets,
		Clock: systemClock{}, Timeout: timeout,
		CallbackURL: "http://" + callbacks.Listener.Addr().String() + "/decisions"})
	if err != nil {
		t.Fatal(err)
	}
	callbacks.Config.Handler = suite
	callbacks.Start()
	t.Cleanup(callbacks.Close)
	broken, rules := map[string]error{}, 0
	failed := suite.Run(t.Context(), func(r conformance.Result) {
		rules++
		if r.Err != nil {
			broken[r.Rule] = r.Err
		}
	})
	if failed != len(broken) || rules == 0 {
		t.Errorf("%d failed of %d, reported %v", failed, rules, broken)
	}
	return broken
}

func TestIdentityProvider_Conforms(t *testing.T) {
	t.Parallel()
	// The provider follows every rule of the contract.
	for rule, err := range conform(t, "", time.Minute) {
		t.Errorf("%s: %v", rule, err)
	}
}

func TestConformance_FaultBreaksItsRule(t *testing.T) {
	t.Parallel()
	// Each fault breaks the rule that is about it, and says what is wrong. Faults that keep a message from
	// being sent are found when the time for it is over.
	const short, long = 200 * time.Millisecond, time.Minute
	for fault, want := range map[IdentityFault]struct {
		rule, reason string
		timeout      time.Duration
	}{
		AcceptsAnyToken:      {"token", "answered as a success", long},
		RedirectsSubmissions: {"submit", "status 308", short},
		ForgetsFiles:         {"submit", "lists no document", short},
		AnswersAtLength:      {"submit", "more than 65536 bytes", short},
		RefusesRepetition:    {"repeat", "status 409", long},
		DecidesAgain:         {"repeat", "was APPROVED, and REJECTED when", long},
		IgnoresDamage:        {"damaged-file", "answered as a success", long},
		KnowsEverything:      {"unknown", "it is a success", long},
		SendsNothing:         {"message", "no such message", short},
		SendsUnsigned:        {"signature", "webhook-signature are required", long},
		SignsOtherwise:       {"signature", "no signature", long},
		SignsNoTimestamp:     {"signature", "no signature", long},
		SendsOldTimestamps:   {"signature", "more than 5 minutes", long},
		OmitsSubject:         {"message-body", "subjectId", long},
		SendsOnce:            {"resend", "no such message", short},
		ChangesIDs:           {"resend", "with the webhook-id", long},
		InventsStatuses:      {"approve", "status", long}, // of the message or of the application, whichever is read first
		ListsNoErrors:        {"correct", "must say what is to be corrected", long},
		BlamesOthers:         {"correct", "neither the customer nor", long},
		ChangesMind:          {"status", "is REJECTED, and the message says APPROVED", long},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			broken := conform(t, fault, want.timeout)
			if err := broken[want.rule]; err == nil || !strings.Contains(err.Error(), want.reason) {
				t.Errorf("%s: %v, want %q; all broken rules: %v", want.rule, err, want.reason, broken)
			}
		})
	}
}
