package platforms_test

import (
	"slices"
	"testing"

	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

const ownAccountsQuery = `SELECT currency || ' ' || account_type FROM internal_accounts WHERE platform_id = $1 AND customer_id IS NULL ORDER BY 1`

func TestService_CreatePlatform(t *testing.T) {
	t.Parallel()
	// A new platform has its settings, an account of its own in each currency, and a
	// token that may do everything and whose secret opens it.
	h := newEnv(t)

	made, err := h.Create(t.Context(), platforms.CreateRequest{Name: " Bank ", Environment: platform.Production, Regulated: true})
	if err != nil {
		t.Fatal(err)
	}

	read, err := h.store.Platform(t.Context(), made.Platform.ID)
	if err != nil || read.Name != "Bank" || read.Environment != platform.Production || !read.Regulated {
		t.Errorf("the platform is %+v, %v", read, err)
	}
	if got, want := h.queryTexts(t, ownAccountsQuery, made.Platform.ID.UUID()), []string{
		"BTC INTERNAL_CRYPTO", "USD INTERNAL_FIAT", "USDB INTERNAL_CRYPTO", "USDC INTERNAL_CRYPTO",
	}; !slices.Equal(got, want) {
		t.Errorf("accounts %q, want %q", got, want)
	}
	principal, err := platforms.NewAuthenticator(h.store).Authenticate(t.Context(), made.Token.ClientID, made.Secret)
	if err != nil || principal.Platform != made.Platform.ID || principal.Environment != platform.Production || len(principal.Permissions) != 3 {
		t.Errorf("its token opens for %+v, %v", principal, err)
	}

	// What makes no sense is not founded.
	if _, err := h.Create(t.Context(), platforms.CreateRequest{Name: "", Environment: platform.Sandbox}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without a name: %v", err)
	}
}

func TestService_UpdateSettings(t *testing.T) {
	t.Parallel()
	// What is given changes and the rest stays; a currency that is new gets an account,
	// one that goes keeps its own.
	h := newEnv(t)
	domain, currencies := "pay.example.com", []platform.Currency{{Code: "EUR", MinAmount: 1, MaxAmount: 2, Directions: []string{"INCOMING"}}}

	changed, err := h.UpdateSettings(t.Context(), h.admin, platform.Change{UMADomain: &domain, Currencies: &currencies})
	if err != nil {
		t.Fatal(err)
	}

	read, err := h.Settings(t.Context(), h.admin)
	if err != nil || read.UMADomain != domain || len(read.Currencies) != 1 || read.WebhookEndpoint != "" || read.UMADomain != changed.UMADomain {
		t.Errorf("the settings are %+v, %v", read, err)
	}
	if got := h.queryTexts(t, ownAccountsQuery, h.admin.Platform.UUID()); !slices.Contains(got, "EUR INTERNAL_FIAT") || len(got) != 5 {
		t.Errorf("accounts %q, want EUR beside the four of before", got)
	}
	if got := h.queryTexts(t, `SELECT name FROM webhook_events`); len(got) != 0 || h.committedCalls != 0 {
		t.Errorf("told %q, and %d calls", got, h.committedCalls)
	}
}

func TestService_NewEndpointEmitsTestEvent(t *testing.T) {
	t.Parallel()
	// Setting the endpoint to something new tells one TEST event in the same commit;
	// setting it to the same again, or to nothing, tells none.
	h := newEnv(t)
	set := func(endpoint string) {
		t.Helper()
		if _, err := h.UpdateSettings(t.Context(), h.admin, platform.Change{WebhookEndpoint: &endpoint}); err != nil {
			t.Fatal(err)
		}
	}

	for _, step := range []struct {
		endpoint string
		tests    int
	}{{"https://a.example.com", 1}, {"https://a.example.com", 1}, {"https://b.example.com", 2}, {"", 2}, {"https://b.example.com", 3}} {
		set(step.endpoint)
		if got := h.queryTexts(t, `SELECT name FROM webhook_events WHERE platform_id = $1`, h.admin.Platform.UUID()); len(got) != step.tests || h.committedCalls != step.tests {
			t.Fatalf("after %q: events %q and %d calls, want %d", step.endpoint, got, h.committedCalls, step.tests)
		}
	}

	// The event waits to be sent to the new address.
	if queued := h.queryTexts(t, `SELECT event_id::text FROM webhook_queue`); len(queued) == 0 {
		t.Error("no TEST event waits to be sent")
	}
}

func TestService_InvalidUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	// Every bad setting is named at once, and no good one beside it is taken.
	h := newEnv(t)
	endpoint, domain := "ftp://example.com", "not a domain"

	_, err := h.UpdateSettings(t.Context(), h.admin, platform.Change{WebhookEndpoint: &endpoint, UMADomain: &domain})

	refused, _ := fault.As(err)
	if refused == nil || len(refused.Fields) != 2 {
		t.Errorf("refused with %v", err)
	}
	if read, err := h.Settings(t.Context(), h.admin); err != nil || read.UpdatedAt != h.created.Platform.UpdatedAt {
		t.Errorf("the settings are %+v, %v", read, err)
	}
}

func TestService_SettingsRequirePermission(t *testing.T) {
	t.Parallel()
	// Reading needs VIEW and changing needs MANAGE; nothing else will do.
	h := newEnv(t)
	domain := "uma.example.com"
	for _, permission := range platform.Permissions {
		_, err := h.Settings(t.Context(), h.withPermission(permission))
		if (err == nil) != (permission == platform.View) {
			t.Errorf("Settings with %s: %v", permission, err)
		}
		_, err = h.UpdateSettings(t.Context(), h.withPermission(permission), platform.Change{UMADomain: &domain})
		if (err == nil) != (permission == platform.Manage) {
			t.Errorf("Change with %s: %v", permission, err)
		}
	}

	stranger := h.admin
	stranger.Platform = ident.NewPlatform(h.IDs.New, noon)
	if _, err := h.Settings(t.Context(), stranger); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a platform that is not there: %v", err)
	}
}
