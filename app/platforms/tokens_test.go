package platforms_test

import (
	"strings"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

func TestService_TokenSecretIsReturnedOnce(t *testing.T) {
	t.Parallel()
	// Only the first response has the secret. The stored response for a repeated request,
	// later reads and the database do not contain it.
	env := newEnv(t)
	var sent string
	request := apptest.IdempotentRequest(env.admin, "key",
		func(result any) string { sent = "secret:" + result.(platforms.IssuedToken).Secret; return sent })

	issued, err := env.platforms.CreateToken(t.Context(), env.admin.Platform, env.admin.Author(), request, "web",
		[]platform.Permission{platform.View})
	if err != nil || len(issued.Secret) != 64 {
		t.Fatalf("issued %+v, %v", issued, err)
	}

	if sent != "secret:"+issued.Secret {
		t.Errorf("sent %q, want the secret in it", sent)
	}
	stored, err := env.Store.StoredResponses(t.Context(), []ports.IdempotencyKey{request.IdempotencyKey()})
	if err != nil || stored[0] == nil || string(stored[0].Body) != "secret:" {
		t.Errorf("stored %+v, %v", stored[0], err)
	}
	read, err := env.platforms.Token(t.Context(), env.admin.Platform, issued.Token.ID)
	if err != nil || read.Secret != "" || read.Token.Name != "web" {
		t.Errorf("read %+v, %v", read, err)
	}
	for _, query := range []string{`SELECT t::text FROM tokens t`, `SELECT encode(body, 'escape') FROM idempotency_keys`} {
		for _, row := range env.QueryStrings(query) {
			if strings.Contains(row, issued.Secret) {
				t.Errorf("the secret is stored in the database: %s", row)
			}
		}
	}

	// The secret authenticates.
	if _, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), issued.Token.ClientID, issued.Secret); err != nil {
		t.Error(err)
	}
}

func TestService_DeleteToken(t *testing.T) {
	t.Parallel()
	// A token may delete itself. When it is deleted, no process accepts it any more, though some have used it just before. The last
	// token with MANAGE cannot be deleted.
	env := newEnv(t)
	authenticator, other := platforms.NewAuthenticator(env.Store), platforms.NewAuthenticator(env.Store)
	second, err := env.platforms.CreateToken(t.Context(), env.admin.Platform, env.admin.Author(), nil, "second",
		[]platform.Permission{platform.Manage})
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range []*platforms.Authenticator{authenticator, other} {
		if _, err := process.Authenticate(t.Context(), second.Token.ClientID, second.Secret); err != nil {
			t.Errorf("before: %v", err)
		}
	}

	if err := env.platforms.DeleteToken(t.Context(), env.created.Platform.ID, platform.Service, second.Token.ID); err != nil {
		t.Errorf("deleting itself: %v", err)
	}
	for _, process := range []*platforms.Authenticator{authenticator, other} {
		if _, err := process.Authenticate(t.Context(), second.Token.ClientID, second.Secret); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("the deleted token: %v", err)
		}
	}
	if err := env.platforms.DeleteToken(t.Context(), env.admin.Platform, platform.Service, env.admin.Token); !fault.Is(err, fault.Conflict) {
		t.Errorf("the last token with MANAGE: %v", err)
	}
	if _, err := authenticator.Authenticate(t.Context(), env.created.Token.ClientID, env.created.Secret); err != nil {
		t.Errorf("the last token with MANAGE, afterwards: %v", err)
	}
}

func TestService_TokensOfOtherPlatformAreNotFound(t *testing.T) {
	t.Parallel()
	// Another platform can neither read, list nor delete a token.
	env := newEnv(t)
	other := env.NewPrincipal(env.NewPlatform())

	if _, err := env.platforms.Token(t.Context(), other.Platform, env.admin.Token); !fault.Is(err, fault.TokenNotFound) {
		t.Errorf("read: %v", err)
	}
	if err := env.platforms.DeleteToken(t.Context(), other.Platform, platform.Service, env.admin.Token); !fault.Is(err, fault.TokenNotFound) {
		t.Errorf("deleted: %v", err)
	}
	page, err := env.platforms.Tokens(t.Context(), other.Platform, ports.TokenFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != other.Token {
		t.Errorf("listed: %+v, %v", page, err)
	}
}
