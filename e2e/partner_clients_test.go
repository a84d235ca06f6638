package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"causeway/core/rail"
)

func TestPartnerDescription_GeneratedClientsPay(t *testing.T) {
	t.Parallel()
	// What common generators make from the description of the contract compiles, and a client makes a payout at the
	// sidecar in Python: it submits, asks until it has settled, and lists the event.
	clients := copyClients(t)
	description, err := filepath.Abs("../docs/partner-openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(clients, "partner")
		if err := os.Mkdir(filepath.Join(folder, "client"), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, "..", "go", "tool", "-modfile="+toolsFile, "oapi-codegen", "-generate", "types,client", "-package", "client", "-o",
			filepath.Join(folder, "client", "client.go"), description)
		program := filepath.Join(folder, "partner")
		run(t, clients, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./partner")
		url, _ := startPartner(t, "sidecar.py")
		id := uuid.New()
		if out := run(t, clients, program, url, partnerSecret, id.String(), rail.EndToEndID(id),
			"PlatformConfig:"+uuid.NewString()); out != id.String()+" SETTLED\n" {
			t.Errorf("the client printed %q", out)
		}
	})
	t.Run("ogen", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(clients, "ogen")
		run(t, "..", "go", "tool", "-modfile="+toolsFile, "ogen", "--config", filepath.Join(folder, "config.yaml"), "--package", "partner",
			"--target", filepath.Join(folder, "partner"), description)
		run(t, clients, "go", "build", "-trimpath", "-buildvcs=false", "./ogen/partner")
	})
	t.Run("openapi-typescript", func(t *testing.T) {
		t.Parallel()
		types := filepath.Join(t.TempDir(), "partner.d.ts")
		for _, command := range [][]string{{"openapi-typescript", description, "--output", types}, {"tsc", "--noEmit", "--strict", types}} {
			if out, err := runNode(t, clients, command[0], command[1:]...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
	})
}
