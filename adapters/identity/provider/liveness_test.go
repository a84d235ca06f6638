package provider_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/identity/provider"
	"causeway/core/account"
	"causeway/core/fault"
)

func TestIdentity_Liveness(t *testing.T) {
	t.Parallel()
	// A check is started with the ids of its challenge, its account and its customer, and no personal data but the address; then the
	// provider is asked for the verdict.
	challenge := account.Challenge{ID: uuid.Max, Method: account.Liveness, ExpiresAt: now}
	wallet := account.External{Type: account.TronWallet, Fields: map[string]string{"address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}}
	identity := newIdentity(t, nil, func(w http.ResponseWriter, r *http.Request) {
		state := provider.LivenessState{ID: applicationID(r), Status: "PASSED"}
		if r.Method == http.MethodPut {
			var check provider.LivenessCheck
			if err := json.NewDecoder(r.Body).Decode(&check); err != nil || check.ID != state.ID || check.Wallet != wallet.Identifier() ||
				check.ExpiresAt != "2026-03-14T12:00:00Z" || r.URL.Path != "/v1/liveness/"+uuid.Max.String() {
				t.Errorf("%s: %+v, %v", r.URL.Path, check, err)
			}
			state.Status, state.Link, state.Token = "PENDING", "https://identity.example.com/1", "token"
		}
		_ = json.NewEncoder(w).Encode(state)
	})

	session, err := identity.StartLiveness(t.Context(), wallet, challenge)
	if err != nil || session != (account.LivenessSession{Link: "https://identity.example.com/1", Token: "token"}) {
		t.Errorf("%+v, %v", session, err)
	}
	if verdict, err := identity.LivenessVerdict(t.Context(), wallet, challenge); err != nil || verdict != account.LivenessPassed {
		t.Errorf("%s, %v", verdict, err)
	}
}

func TestIdentity_LivenessOfProvidersThatFail(t *testing.T) {
	t.Parallel()
	// A provider without the check is not asked again; one that fails may be. No answer is taken for a verdict.
	challenge := account.Challenge{ID: uuid.Max, Method: account.Liveness, ExpiresAt: now}
	for name, c := range map[string]struct {
		status int
		body   string
		want   fault.Code
	}{
		"without the check": {404, "", fault.NotImplemented},
		"down":              {503, "", fault.ServiceUnavailable},
		"another check":     {200, `{"id": "x", "status": "PASSED", "verificationLink": "https://identity.example.com"}`, fault.ServiceUnavailable},
		"no link":           {200, `{"id": "` + uuid.Max.String() + `", "status": "SURELY"}`, fault.ServiceUnavailable},
		"no web address": {200, `{"id": "` + uuid.Max.String() + `", "status": "", "verificationLink": "javascript:alert(1)"}`,
			fault.ServiceUnavailable},
	} {
		identity := newIdentity(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})
		if _, err := identity.StartLiveness(t.Context(), account.External{}, challenge); !fault.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if verdict, err := identity.LivenessVerdict(t.Context(), account.External{}, challenge); err == nil {
			t.Errorf("%s: %s", name, verdict)
		}
	}
}
