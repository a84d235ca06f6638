package platforms_test

import (
	"context"
	"slices"
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

// sealForPlatform marks a secret with the platform that it was sealed for.
type sealForPlatform struct{}

func (sealForPlatform) SealAgain(s ports.SealedWebhookSecret, from, to ident.Platform) (ports.SealedWebhookSecret, error) {
	s.Sealed = append([]byte(from.String()+" "+to.String()+" "), s.Sealed...)
	return s, nil
}

func TestOperator_ResetSandboxMovesWhatKeepsWorking(t *testing.T) {
	t.Parallel()
	// The tokens, webhook secrets, settings and roles of a sandbox work on its successor, which has accounts of its own. The closed
	// platform keeps its records, and gets no tokens and settings any more. A second reset closes the successor.
	env := newEnv(t)
	service := platforms.New(platforms.Config{Store: env.Store, Clock: env.Clock, IDs: env.IDs, Secrets: sealForPlatform{}})
	ana := operator(t, service, platform.Author{Actor: "ana"})
	old := env.created.Platform.ID
	domain := "uma.acme.example"
	if _, err := service.UpdateSettings(t.Context(), old, platform.Service, platform.Change{UMADomain: &domain}); err != nil {
		t.Fatal(err)
	}
	secret := ports.SealedWebhookSecret{WebhookSecret: platform.WebhookSecret{ID: ident.NewWebhookSecret(env.IDs.New, apptest.Noon),
		CreatedAt: apptest.Noon}, Sealed: []byte("sealed")}
	env.Do(func(ctx context.Context, u *postgres.Unit) error {
		return u.ReplaceWebhookSecrets(ctx, old, []ports.SealedWebhookSecret{secret})
	})
	finance := env.NewPerson(person.Finance, func(p *person.Person) { p.Grants[0].Platform = old })
	everywhere := env.NewPerson(person.Viewer)

	next, err := ana.ResetSandbox(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}

	principal, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), env.created.Token.ClientID, env.created.Secret)
	if err != nil || principal.Platform != next.ID || principal.Token != env.created.Token.ID || len(principal.Permissions) != 3 {
		t.Errorf("the token authenticates %+v, %v", principal, err)
	}
	closed, err := service.Settings(t.Context(), old)
	if err != nil || !closed.Closed() || closed.Successor != next.ID {
		t.Errorf("closed %+v, %v", closed, err)
	}
	if read, err := service.Settings(t.Context(), next.ID); err != nil || read.UMADomain != domain || read.Closed() {
		t.Errorf("successor %+v, %v", read, err)
	}
	if current, err := service.Current(t.Context(), old); err != nil || current.ID != next.ID {
		t.Errorf("current %s, %v", current.ID, err)
	}
	accounts, err := env.Store.InternalAccountsOf(t.Context(), next.ID, []ident.Customer{{}})
	if n := len(accounts[ident.Customer{}]); err != nil || n != len(next.Currencies) {
		t.Errorf("%d accounts, %v", n, err)
	}
	secrets, err := env.Store.WebhookSecrets(t.Context(), next.ID)
	sealed := old.String() + " " + next.ID.String() + " sealed"
	if err != nil || len(secrets) != 1 || secrets[0].ID != secret.ID || string(secrets[0].Sealed) != sealed {
		t.Errorf("secrets %+v, %v", secrets, err)
	}
	roles := env.QueryStrings(`SELECT array_to_string(roles, ',') FROM people WHERE id = ANY($1) ORDER BY id`,
		[]any{finance.ID.UUID(), everywhere.ID.UUID()})
	slices.Sort(roles)
	if want := []string{"FINANCE@" + old.String() + ",FINANCE@" + next.ID.String(), "VIEWER"}; !slices.Equal(roles, want) {
		t.Errorf("roles %q, want %q", roles, want)
	}
	got := env.QueryStrings(`SELECT action || ' ' || actor || ' ' || subject FROM operator_actions WHERE platform_id = ANY($1) ORDER BY id`,
		[]any{old.UUID(), next.ID.UUID()})
	if want := []string{"UPDATE_PLATFORM (service) ", "RESET_PLATFORM ana " + next.ID.String(),
		"CREATE_PLATFORM ana "}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}

	// What a request or an operator tries on the closed platform is refused.
	_, err = service.CreateToken(t.Context(), old, platform.Author{Token: env.created.Token.ID}, nil, "web",
		[]platform.Permission{platform.View})
	apptest.WantFault(t, "a token by a deleted token", err, fault.TokenNotFound)
	_, err = ana.CreateToken(t.Context(), old, "web", []platform.Permission{platform.View}, platforms.TokenOwner{})
	apptest.WantFault(t, "a token", err, fault.Conflict)
	_, err = service.CreateTokenBy(t.Context(), old, finance, "web", []platform.Permission{platform.View})
	apptest.WantFault(t, "a token by a person", err, fault.Conflict)
	_, err = service.TokenOf(t.Context(), old, finance)
	apptest.WantFault(t, "a token of a person", err, fault.Conflict)
	_, err = service.UpdateSettings(t.Context(), old, platform.Service, platform.Change{UMADomain: &domain})
	apptest.WantFault(t, "settings", err, fault.Conflict)
	_, err = ana.ResetSandbox(t.Context(), old)
	apptest.WantFault(t, "a second reset", err, fault.Conflict)

	last, err := ana.ResetSandbox(t.Context(), next.ID)
	if err != nil {
		t.Fatal(err)
	}
	if current, err := service.Current(t.Context(), old); err != nil || current.ID != last.ID {
		t.Errorf("current %s after two resets, %v", current.ID, err)
	}
}

func TestOperator_ResetSandboxRefusesProduction(t *testing.T) {
	t.Parallel()
	// A production platform is never reset, and nothing of it changes.
	env := newEnv(t)
	ana := operator(t, env.platforms, platform.Author{Actor: "ana"})
	created := newBank(t, ana)

	_, err := ana.ResetSandbox(t.Context(), created.Platform.ID)
	apptest.WantFault(t, "production", err, fault.Forbidden)

	if read, err := env.platforms.Settings(t.Context(), created.Platform.ID); err != nil || read.Closed() {
		t.Errorf("%+v, %v", read, err)
	}
	if _, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), created.Token.ClientID, created.Secret); err != nil {
		t.Error(err)
	}
}
