package lightning_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/corridor"
	"causeway/core/fault"
	core "causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports/portstest"
)

func TestNew_RefusesBadSettings(t *testing.T) {
	t.Parallel()
	// Every bad setting is reported with its name.
	c := rail.Connection{Name: "lightning", Adapter: rail.Lightning, Rails: []corridor.Rail{corridor.Lightning},
		Currencies: []money.Currency{"USD"}, Settings: map[string]string{"url": "http://node.example.com:8080", "macaroon": "0201",
			"network": "moon", "certificate": "abc", "maxFeeRate": "-1", "maxFeeLeast": "many", "payFor": "1s", "routeHints": "perhaps",
			"colour": "red"}}
	_, err := lightning.New(lightning.Config{Connection: c})
	f, _ := fault.As(err)
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Field)
	}
	want := []string{"currencies", "settings.certificate", "settings.colour", "settings.macaroon", "settings.maxFeeLeast",
		"settings.maxFeeRate", "settings.network", "settings.payFor", "settings.routeHints", "settings.url"}
	if !slices.Equal(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
}

func TestTest(t *testing.T) {
	t.Parallel()
	// A connection that works names the node, its rights and what it holds. One that lacks a permission, has one too many, or is on another
	// network, does not pass.
	w := newWorld(t)
	checked, err := w.poller.Test(t.Context())
	if err != nil || len(checked) != 3 || !strings.Contains(checked[0], "0.18.5") || !strings.Contains(checked[2], "0.01") {
		t.Errorf("%q, %v", checked, err)
	}
	for _, permission := range []string{"info:read", "offchain:read", "offchain:write", "invoices:read", "invoices:write"} {
		w.node.Deny(permission)
		if _, err := w.poller.Test(t.Context()); err == nil || !strings.Contains(err.Error(), "permission") {
			t.Errorf("without %s: %v", permission, err)
		}
		w.node.Allow(permission)
	}
	if n := w.node.Invoices(); n != 0 {
		t.Errorf("tests have made %d invoices", n)
	}
	w.macaroon = lndtest.AdminMacaroon
	if _, err := w.open(lndtest.Open).Test(t.Context()); err == nil || !strings.Contains(err.Error(), "not needed") {
		t.Errorf("with every permission: %v", err)
	}
	w.macaroon = "nonsense"
	if _, err := w.open(lndtest.Open).Test(t.Context()); err == nil || strings.Contains(err.Error(), "nonsense") {
		t.Errorf("with nonsense: %v", err)
	}
	w.macaroon = lndtest.Macaroon
	w.settings["network"] = "main"
	if _, err := w.open(lndtest.Open).Test(t.Context()); err == nil || !strings.Contains(err.Error(), `"regtest" and not on main`) {
		t.Errorf("on another network: %v", err)
	}
}

func TestNew_PinsTheCertificate(t *testing.T) {
	t.Parallel()
	// The node has to show the certificate of the settings, whichever names it has. Without one, it has to be of a public authority.
	node := lndtest.New(core.Regtest, 1_000)
	server := httptest.NewUnstartedServer(node.Handler(lndtest.Open))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are refused
	server.StartTLS()
	t.Cleanup(server.Close)
	hash := sha256.Sum256(server.Certificate().Raw)
	pin := hex.EncodeToString(hash[:])
	for certificate, works := range map[string]bool{pin: true, colons(pin): true, strings.Repeat("00", 31) + "01": false, "": false} {
		settings := map[string]string{"url": server.URL, "macaroon": "env:MACAROON", "network": "regtest"}
		if certificate != "" {
			settings["certificate"] = certificate
		}
		r, err := lightning.New(lightning.Config{Secrets: portstest.Secrets{"env:MACAROON": lndtest.Macaroon},
			Connection: rail.Connection{Name: "one",
				Adapter: rail.Lightning, Rails: []corridor.Rail{corridor.Lightning}, Currencies: []money.Currency{money.BTC}, Settings: settings}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if _, err := r.Test(t.Context()); (err == nil) != works {
			t.Errorf("%q: %v", certificate, err)
		}
	}
}

// colons writes a fingerprint as openssl does.
func colons(digits string) string {
	var pairs []string
	for pair := range slices.Chunk([]byte(strings.ToUpper(digits)), 2) {
		pairs = append(pairs, string(pair))
	}
	return strings.Join(pairs, ":")
}
