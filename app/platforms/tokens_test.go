package platforms_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
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

func TestTokens_HaveAMaximum(t *testing.T) {
	t.Parallel()
	// The API, the console and the command line create no token of a service beyond the maximum, until one is deleted. Tokens of people
	// are counted apart, and the console makes the one of a person always.
	env := newEnv(t)
	root, id, view := operator(t, env.platforms, platform.Author{Actor: "root"}), env.admin.Platform, []platform.Permission{platform.View}
	ada, ben := env.NewPerson(person.Administrator), env.NewPerson(person.Finance)
	fill := func(n int, of ident.Person) (last ident.Token) {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			for range n {
				var clientID [16]byte
				_, _ = rand.Read(clientID[:])
				token, _, err := platform.NewToken(ident.NewToken(env.IDs.New, apptest.Noon), id, "x", view, clientID, [32]byte{}, apptest.Noon)
				if err != nil {
					return err
				}
				token.Person, last = of, token.ID
				if err := tx.CreateToken(ctx, token); err != nil {
					return err
				}
			}
			return nil
		})
		return last
	}
	creators := map[string]func() error{
		"the API": func() error {
			_, err := env.platforms.CreateToken(t.Context(), id, env.admin.Author(), nil, "x", view)
			return err
		},
		"the console": func() error {
			_, err := env.platforms.CreateTokenBy(t.Context(), id, ada, "x", view)
			return err
		},
		"the command line": func() error {
			_, err := root.CreateToken(t.Context(), id, "x", view, platforms.TokenOwner{})
			return err
		},
	}
	last := fill(platform.MaxTokens-1, ident.Person{})
	for name, create := range creators {
		apptest.WantFault(t, name, create(), fault.Conflict)
	}
	if err := env.platforms.DeleteToken(t.Context(), id, platform.Service, last); err != nil {
		t.Fatal(err)
	}
	if err := creators["the API"](); err != nil {
		t.Errorf("after a deletion: %v", err)
	}

	ofAda := platforms.TokenOwner{Person: ada.Email}
	if _, err := root.CreateToken(t.Context(), id, "x", view, ofAda); err != nil {
		t.Errorf("for a person: %v", err)
	}
	fill(platform.MaxTokens-1, ada.ID)
	_, err := root.CreateToken(t.Context(), id, "x", view, ofAda)
	apptest.WantFault(t, "for a person beyond the maximum", err, fault.Conflict)
	if _, err := env.platforms.TokenOf(t.Context(), id, ben); err != nil {
		t.Errorf("the token of a person on the console: %v", err)
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
