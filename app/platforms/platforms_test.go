package platforms_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

const ownAccountsQuery = `SELECT currency || ' ' || account_type FROM internal_accounts WHERE platform_id = $1 AND customer_id IS NULL ORDER BY 1`

func TestService_CreatePlatform(t *testing.T) {
	t.Parallel()
	// A new platform has its settings, an account of its own in each currency, and a token
	// with every permission.
	env := newEnv(t)

	created, err := env.platforms.Create(t.Context(), platforms.CreateRequest{Name: " Bank ", Environment: platform.Production,
		Regulated: true})
	if err != nil {
		t.Fatal(err)
	}

	read, err := env.Store.Platform(t.Context(), created.Platform.ID)
	if err != nil || read.Name != "Bank" || read.Environment != platform.Production || !read.Regulated {
		t.Errorf("the platform is %+v, %v", read, err)
	}
	if got, want := env.QueryStrings(ownAccountsQuery, created.Platform.ID.UUID()), []string{
		"BTC INTERNAL_CRYPTO", "USD INTERNAL_FIAT", "USDB INTERNAL_CRYPTO", "USDC INTERNAL_CRYPTO",
	}; !slices.Equal(got, want) {
		t.Errorf("accounts %q, want %q", got, want)
	}
	principal, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), created.Token.ClientID, created.Secret)
	if err != nil || principal.Platform != created.Platform.ID || principal.Environment != platform.Production ||
		len(principal.Permissions) != 3 {
		t.Errorf("its token authenticates %+v, %v", principal, err)
	}

	// Another of the same name can be created, and cannot take a domain that the first has set.
	another, err := env.platforms.Create(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil {
		t.Fatal(err)
	}
	domain := "uma.bank.example.com"
	if _, err := env.platforms.UpdateSettings(t.Context(), created.Platform.ID, platform.Service,
		platform.Change{UMADomain: &domain}); err != nil {
		t.Fatal(err)
	}
	if _, err := env.platforms.UpdateSettings(t.Context(), another.Platform.ID, platform.Service,
		platform.Change{UMADomain: &domain}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("the domain of another: %v", err)
	}

	// An invalid request creates nothing.
	if _, err := env.platforms.Create(t.Context(), platforms.CreateRequest{Name: "", Environment: platform.Sandbox}); !fault.Is(err,
		fault.InvalidInput) {
		t.Errorf("without a name: %v", err)
	}
}

func TestService_UpdateSettings(t *testing.T) {
	t.Parallel()
	// Settings in the request change and the others do not. A new currency gets an account;
	// the account of a removed currency stays.
	env := newEnv(t)
	domain, currencies := "pay.example.com", []platform.Currency{{Code: "EUR", MinAmount: 1, MaxAmount: 2, Directions: []string{"INCOMING"}}}

	changed, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Author{Actor: "Ana"},
		platform.Change{UMADomain: &domain, Currencies: &currencies})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Author{Actor: "Ana"},
		platform.Change{UMADomain: &domain}); err != nil { // as it is
		t.Fatal(err)
	}

	read, err := env.platforms.Settings(t.Context(), env.admin.Platform)
	if err != nil || read.UMADomain != domain || len(read.Currencies) != 1 || read.WebhookEndpoint != "" ||
		read.UMADomain != changed.UMADomain {
		t.Errorf("the settings are %+v, %v", read, err)
	}
	if got := env.QueryStrings(ownAccountsQuery, env.admin.Platform.UUID()); !slices.Contains(got, "EUR INTERNAL_FIAT") || len(got) != 5 {
		t.Errorf("accounts %q, want EUR and the four from before", got)
	}
	if got := env.QueryStrings(`SELECT name FROM webhook_events`); len(got) != 0 {
		t.Errorf("events %q", got)
	}
	recorded := env.QueryStrings(`SELECT changes ->> -1 FROM operator_actions WHERE action = 'UPDATE_PLATFORM'`)
	if len(recorded) != 1 || !strings.Contains(recorded[0], `"field": "umaDomain"`) || !strings.Contains(recorded[0],
		`"after": "pay.example.com"`) {
		t.Errorf("recorded %q", recorded)
	}
}

func TestService_UpdatesInvitationURL(t *testing.T) {
	t.Parallel()
	// The page for invitations is stored without a slash at its end, and can be cleared. One to which no
	// code can be appended is refused, and so is http on a production platform.
	env := newEnv(t)
	production := env.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Production })
	for _, c := range []struct {
		platform ident.Platform
		page     string
		want     string
		refused  bool
	}{
		{env.admin.Platform, "https://example.com/join/", "https://example.com/join", false},
		{env.admin.Platform, "http://localhost:3000", "http://localhost:3000", false},
		{env.admin.Platform, "https://example.com/join?code=", "http://localhost:3000", true},
		{env.admin.Platform, "https://example.com/#join", "http://localhost:3000", true},
		{env.admin.Platform, "example.com", "http://localhost:3000", true},
		{env.admin.Platform, "https://ana@example.com", "http://localhost:3000", true},
		{env.admin.Platform, "", "", false},
		{production.ID, "http://example.com", "", true},
		{production.ID, "https://example.com", "https://example.com", false},
	} {
		_, err := env.platforms.UpdateSettings(t.Context(), c.platform, platform.Service, platform.Change{InvitationURL: &c.page})
		if c.refused {
			apptest.WantFault(t, c.page, err, fault.InvalidInput, "invitationUrl")
		} else if err != nil {
			t.Errorf("%q: %v", c.page, err)
		}
		if read, err := env.platforms.Settings(t.Context(), c.platform); err != nil || read.InvitationURL != c.want {
			t.Errorf("after %q: %q, %v; want %q", c.page, read.InvitationURL, err, c.want)
		}
	}
}

func TestService_NewEndpointEmitsTestEvent(t *testing.T) {
	t.Parallel()
	// Setting a new endpoint emits one TEST event in the same commit. Setting it to its
	// present value, or clearing it, emits none.
	env := newEnv(t)
	set := func(endpoint string) {
		t.Helper()
		if _, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Service,
			platform.Change{WebhookEndpoint: &endpoint}); err != nil {
			t.Fatal(err)
		}
	}

	for _, step := range []struct {
		endpoint string
		tests    int
	}{{"https://a.example.com", 1}, {"https://a.example.com", 1}, {"https://b.example.com", 2}, {"", 2}, {"https://b.example.com", 3}} {
		set(step.endpoint)
		if got := env.QueryStrings(`SELECT name FROM webhook_events WHERE platform_id = $1`, env.admin.Platform.UUID()); len(got) != step.tests {
			t.Fatalf("after %q: events %q, want %d", step.endpoint, got, step.tests)
		}
	}

	// The event is queued for delivery.
	if queued := env.QueryStrings(`SELECT event_id::text FROM webhook_queue`); len(queued) == 0 {
		t.Error("no TEST event is queued")
	}
}

func TestService_PrivateEndpointNeedsSetting(t *testing.T) {
	t.Parallel()
	// A private address as the endpoint is refused, unless the service allows it; then it is stored.
	env := newEnv(t)
	endpoint := "http://127.0.0.1:8080/webhooks"
	change := platform.Change{WebhookEndpoint: &endpoint}

	_, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Service, change)

	apptest.WantFault(t, "update", err, fault.InvalidInput, "webhookEndpoint")
	env.platforms.AllowPrivateWebhooks = true
	if after, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Service,
		change); err != nil || after.WebhookEndpoint != endpoint {
		t.Errorf("the endpoint is %q, %v", after.WebhookEndpoint, err)
	}
}

func TestService_InvalidUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	// Every invalid setting is named, and no valid one is stored.
	env := newEnv(t)
	endpoint, domain := "ftp://example.com", "not a domain"

	_, err := env.platforms.UpdateSettings(t.Context(), env.admin.Platform, platform.Service, platform.Change{WebhookEndpoint: &endpoint,
		UMADomain: &domain})

	apptest.WantFault(t, "update", err, fault.InvalidInput, "umaDomain", "webhookEndpoint")
	if read, err := env.platforms.Settings(t.Context(), env.admin.Platform); err != nil || read.UpdatedAt != env.created.Platform.UpdatedAt {
		t.Errorf("the settings are %+v, %v", read, err)
	}
}

func TestService_SettingsOfUnknownPlatform(t *testing.T) {
	t.Parallel()
	// A platform that does not exist has no settings.
	env := newEnv(t)
	unknown := env.admin
	unknown.Platform = ident.NewPlatform(env.IDs.New, apptest.Noon)

	_, err := env.platforms.Settings(t.Context(), unknown.Platform)

	apptest.WantFault(t, "settings", err, fault.NotFound)
}
