package webhooks_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/webhooks"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// newSecretService is a service that does not run.
func (e *testEnv) newSecretService() *webhooks.Service {
	return webhooks.New(webhooks.Config{Store: e.Store, Keys: e.keys, Clock: realClock{}, IDs: e.IDs})
}

func TestService_WebhookSecretIsReturnedOnce(t *testing.T) {
	t.Parallel()
	// Only the first response has the secret. The stored response for a repeated request, later
	// reads and the database do not contain it.
	env := newTestEnv(t)
	service := env.newSecretService()
	p := env.createPlatform("https://example.com/")
	var sent string
	request := apptest.IdempotentRequest(platform.Principal{Platform: p}, "key",
		func(result any) string { sent = "secret:" + result.(webhooks.IssuedSecret).Text; return sent })

	issued, err := service.CreateSecret(t.Context(), p, platform.Service, request, time.Hour)
	if err != nil || !strings.HasPrefix(issued.Text, "whsec_") || len(issued.Text) != len("whsec_")+44 {
		t.Fatalf("issued %+v, %v", issued, err)
	}

	if sent != "secret:"+issued.Text {
		t.Errorf("sent %q, want the secret in it", sent)
	}
	stored, err := env.Store.StoredResponses(t.Context(), []ports.IdempotencyKey{request.IdempotencyKey()})
	if err != nil || stored[0] == nil || string(stored[0].Body) != "secret:" {
		t.Errorf("stored %+v, %v", stored[0], err)
	}
	if listed, err := service.Secrets(t.Context(), p); err != nil || len(listed) != 1 || listed[0].Text != "" || listed[0].ID != issued.ID {
		t.Errorf("listed %+v, %v", listed, err)
	}
	env.WantChanges(platform.CreatedWebhookSecret, "(service): secret changed")
	for _, query := range []string{`SELECT s::text FROM webhook_secrets s`, `SELECT a::text FROM operator_actions a`, `SELECT encode(encrypted_secret, 'base64') FROM webhook_secrets`,
		`SELECT encode(body, 'escape') FROM idempotency_keys`} {
		for _, row := range env.QueryStrings(query) {
			if strings.Contains(row, strings.TrimPrefix(issued.Text, "whsec_")[:20]) {
				t.Errorf("the secret is stored in the database: %s", row)
			}
		}
	}
}

func TestService_ConcurrentSecretsAreBounded(t *testing.T) {
	t.Parallel()
	// Of any number of concurrent requests for a secret two succeed, and one secret is current.
	env := newTestEnv(t)
	service := env.newSecretService()
	p := env.createPlatform("https://example.com/")
	var mu sync.Mutex
	created := 0
	var callers sync.WaitGroup
	for range 6 {
		callers.Go(func() {
			_, err := service.CreateSecret(t.Context(), p, platform.Service, nil, time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	callers.Wait()

	listed, err := service.Secrets(t.Context(), p)
	if err != nil || created != 2 || len(listed) != 2 || !listed[0].ValidUntil.IsZero() || listed[1].ValidUntil.IsZero() {
		t.Errorf("%d created, listed %+v, %v", created, listed, err)
	}
	if _, err := service.CreateSecret(t.Context(), ident.Platform{}, platform.Service, nil, 0); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown platform: %v", err)
	}
}

func TestService_SecretSignsAtOnce(t *testing.T) {
	t.Parallel()
	// A running dispatcher signs with a new secret from the first event after its creation, and not
	// with a deleted one.
	env := newTestEnv(t)
	headers := make(chan string, 10)
	endpoint := newFakeReceiver(t, 3)
	endpoint.respond = func(r *http.Request, _ string) int {
		headers <- r.Header.Get("Webhook-Signature")
		return http.StatusOK
	}
	p := env.createPlatform(endpoint.URL)
	service, secrets := env.newService("one", nil), env.newSecretService()
	defer startService(service)()
	rows := env.newRows(p, 1)
	send := func(i int) (signatures int) {
		t.Helper()
		env.appendRows(rows[i : i+1])
		service.Wake(p)
		return strings.Count(<-headers, "v1,")
	}

	before := send(0)
	issued, err := secrets.CreateSecret(t.Context(), p, platform.Service, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	with := send(1)
	if err := secrets.DeleteSecret(t.Context(), p, platform.Service, issued.ID); err != nil {
		t.Fatal(err)
	}
	after := send(2)

	if before != 0 || with != 1 || after != 0 {
		t.Errorf("%d signatures before, %d with the secret, %d after its deletion", before, with, after)
	}
}
