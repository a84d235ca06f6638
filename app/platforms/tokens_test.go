package platforms_test

import (
	"strings"
	"testing"

	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

func TestService_TokenSecretIsReturnedOnce(t *testing.T) {
	t.Parallel()
	// The first answer has the secret; what is remembered for a repetition, what is
	// read back and what is listed do not, and the database has never seen it.
	h := newEnv(t)
	var sent string
	claim := h.idempotentRequest("key", func(result any) string { sent = "secret:" + result.(platforms.IssuedToken).Secret; return sent })

	issued, err := h.CreateToken(t.Context(), h.admin, claim, "web", []platform.Permission{platform.View})
	if err != nil || len(issued.Secret) != 64 {
		t.Fatalf("issued %+v, %v", issued, err)
	}

	if sent != "secret:"+issued.Secret {
		t.Errorf("sent %q, want the secret in it", sent)
	}
	stored, err := h.store.StoredResponses(t.Context(), []ports.IdempotencyKey{claim.IdempotencyKey()})
	if err != nil || stored[0] == nil || string(stored[0].Body) != "secret:" {
		t.Errorf("remembered %+v, %v", stored[0], err)
	}
	read, err := h.Token(t.Context(), h.admin, issued.Token.ID)
	if err != nil || read.Secret != "" || read.Token.Name != "web" {
		t.Errorf("read back %+v, %v", read, err)
	}
	for _, query := range []string{`SELECT t::text FROM tokens t`, `SELECT encode(body, 'escape') FROM idempotency_keys`} {
		for _, row := range h.queryTexts(t, query) {
			if strings.Contains(row, issued.Secret) {
				t.Errorf("the secret stands in the database: %s", row)
			}
		}
	}

	// The secret opens the token.
	if _, err := platforms.NewAuthenticator(h.store).Authenticate(t.Context(), issued.Token.ClientID, issued.Secret); err != nil {
		t.Error(err)
	}
}

func TestService_DeleteToken(t *testing.T) {
	t.Parallel()
	// A token may delete itself and stops working at once, but the last that manages stays.
	h := newEnv(t)
	authenticator := platforms.NewAuthenticator(h.store)
	second, err := h.CreateToken(t.Context(), h.admin, nil, "second", []platform.Permission{platform.Manage})
	if err != nil {
		t.Fatal(err)
	}

	if err := h.DeleteToken(t.Context(), principalOf(h.created.Platform, second.Token), second.Token.ID); err != nil {
		t.Errorf("a token deletes itself: %v", err)
	}
	if _, err := authenticator.Authenticate(t.Context(), second.Token.ClientID, second.Secret); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("the deleted token: %v", err)
	}
	if err := h.DeleteToken(t.Context(), h.admin, h.admin.Token); !fault.Is(err, fault.Conflict) {
		t.Errorf("the last that manages: %v", err)
	}
	if _, err := authenticator.Authenticate(t.Context(), h.created.Token.ClientID, h.created.Secret); err != nil {
		t.Errorf("the last that manages, afterwards: %v", err)
	}
}

func TestService_TokensOfOtherPlatformAreNotFound(t *testing.T) {
	t.Parallel()
	// Neither read nor listed nor deleted from another platform.
	h := newEnv(t)
	_, stranger := h.createPlatform(t, "Other")

	if _, err := h.Token(t.Context(), stranger, h.admin.Token); !fault.Is(err, fault.TokenNotFound) {
		t.Errorf("read: %v", err)
	}
	if err := h.DeleteToken(t.Context(), stranger, h.admin.Token); !fault.Is(err, fault.TokenNotFound) {
		t.Errorf("deleted: %v", err)
	}
	page, err := h.Tokens(t.Context(), stranger, ports.TokenFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != stranger.Token {
		t.Errorf("listed: %+v, %v", page, err)
	}
}

func TestService_TokensRequirePermission(t *testing.T) {
	t.Parallel()
	// Reading needs VIEW; making and deleting need MANAGE.
	h := newEnv(t)
	for _, permission := range platform.Permissions {
		p := h.withPermission(permission)
		_, created := h.CreateToken(t.Context(), p, nil, "x", []platform.Permission{platform.View})
		_, read := h.Token(t.Context(), p, h.admin.Token)
		_, listed := h.Tokens(t.Context(), p, ports.TokenFilter{Paging: ports.Paging{Limit: 1}})
		deleted := h.DeleteToken(t.Context(), p, h.admin.Token)

		views, manages := permission == platform.View, permission == platform.Manage
		if (created == nil) != manages || (read == nil) != views || (listed == nil) != views || fault.Is(deleted, fault.Forbidden) == manages {
			t.Errorf("with %s: create %v, read %v, list %v, delete %v", permission, created, read, listed, deleted)
		}
	}
}
