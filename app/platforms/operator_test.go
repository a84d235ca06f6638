package platforms_test

import (
	"slices"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

func TestOperator_ReplacesLostCredentials(t *testing.T) {
	t.Parallel()
	// An operator creates a token that works and then deletes the lost one. Each change is recorded
	// with the name of the operator, that of the platform too.
	env := newEnv(t)
	ana, err := env.platforms.As(platform.Author{Actor: " ana "})
	if err != nil {
		t.Fatal(err)
	}
	created, err := ana.CreatePlatform(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil {
		t.Fatal(err)
	}
	id := created.Platform.ID

	issued, err := ana.CreateToken(t.Context(), id, "Replacement", platform.Permissions, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := ana.DeleteToken(t.Context(), id, created.Token.ID); err != nil {
		t.Fatal(err)
	}

	principal, err := platforms.NewAuthenticator(env.Store).Authenticate(t.Context(), issued.Token.ClientID, issued.Secret)
	if err != nil || principal.Platform != id || len(principal.Permissions) != 3 {
		t.Errorf("the new token authenticates %+v, %v", principal, err)
	}
	got := env.QueryStrings(`SELECT action || ' ' || actor || ' ' || subject_id FROM operator_actions WHERE platform_id = $1 ORDER BY id`,
		id.UUID())
	if want := []string{"CREATE_PLATFORM ana " + id.UUID().String(), "CREATE_TOKEN ana " + issued.Token.ID.UUID().String(),
		"DELETE_TOKEN ana " + created.Token.ID.UUID().String()}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestOperator_SetRegulated(t *testing.T) {
	t.Parallel()
	// An operator makes a platform regulated, once, with a record; an unknown platform is not found.
	env := newEnv(t)
	ana, err := env.platforms.As(platform.Author{Actor: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	created, err := ana.CreatePlatform(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil {
		t.Fatal(err)
	}
	id := created.Platform.ID

	for _, regulated := range []bool{true, true, false} {
		if changed, err := ana.SetRegulated(t.Context(), id, regulated); err != nil || changed.Regulated != regulated {
			t.Fatalf("%+v, %v", changed, err)
		}
		if read, err := env.platforms.Settings(t.Context(), id); err != nil || read.Regulated != regulated {
			t.Errorf("read %t, %v; want %t", read.Regulated, err, regulated)
		}
	}
	_, err = ana.SetRegulated(t.Context(), ident.NewPlatform(env.IDs.New, apptest.Noon), true)
	apptest.WantFault(t, "unknown platform", err, fault.NotFound)

	got := env.QueryStrings(`SELECT action || ' ' || subject FROM operator_actions WHERE platform_id = $1 ORDER BY id`, id.UUID())
	if want := []string{"CREATE_PLATFORM ", "UPDATE_PLATFORM regulated true", "UPDATE_PLATFORM regulated false"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestOperator_RefusedActionsRecordNothing(t *testing.T) {
	t.Parallel()
	// A token of an unknown platform is not created, the last token with MANAGE is not deleted, and
	// without a name nothing is done.
	env := newEnv(t)
	ana, err := env.platforms.As(platform.Author{Actor: "ana"})
	if err != nil {
		t.Fatal(err)
	}

	_, err = ana.CreateToken(t.Context(), ident.NewPlatform(env.IDs.New, apptest.Noon), "x", platform.Permissions, "")
	apptest.WantFault(t, "unknown platform", err, fault.NotFound)
	apptest.WantFault(t, "last token", ana.DeleteToken(t.Context(), env.admin.Platform, env.admin.Token), fault.Conflict)
	_, err = env.platforms.As(platform.Author{Actor: " "})
	apptest.WantFault(t, "no name", err, fault.InvalidInput, "actor")

	if got := env.QueryStrings(`SELECT action FROM operator_actions`); len(got) != 0 {
		t.Errorf("recorded %q", got)
	}
}
