package platforms_test

import (
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/platform"
)

// env is the environment of a test with the use cases on it, and a platform they created.
type env struct {
	*apptest.Env
	platforms *platforms.Service
	// created is the platform, and admin the holder of its first token.
	created platforms.Created
	admin   platform.Principal
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t)}
	e.platforms = platforms.New(platforms.Config{Store: e.Store, Clock: e.Clock, IDs: e.IDs})
	created, err := e.platforms.Create(t.Context(), platforms.CreateRequest{Name: "Acme", Environment: platform.Sandbox})
	if err != nil {
		t.Fatal(err)
	}
	e.created, e.admin = created, principalOf(created.Platform, created.Token)
	return e
}

// operator returns what an author can do to platforms.
func operator(t *testing.T, service *platforms.Service, by platform.Author) *platforms.Operator {
	t.Helper()
	o, err := service.As(by)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// newBank creates a production platform.
func newBank(t *testing.T, o *platforms.Operator) platforms.Created {
	t.Helper()
	created, err := o.CreatePlatform(t.Context(), platforms.CreateRequest{Name: "Bank", Environment: platform.Production})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func principalOf(p platform.Platform, t platform.Token) platform.Principal {
	return platform.Principal{Platform: p.ID, Environment: p.Environment, Token: t.ID, Permissions: t.Permissions}
}
