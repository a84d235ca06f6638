package e2e

import (
	"encoding/hex"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/adapters/encryption/vault/vaulttest"
	"causeway/core/sandbox"
	"causeway/e2e/kit"
	"causeway/ports/portstest"
)

func TestMasterKey_InVault(t *testing.T) {
	t.Parallel()
	// The service starts with a master key in Vault, and wallets get keys that it protects. While Vault
	// cannot be reached, it continues and also opens sessions of other wallets, but a new process does not
	// start, and says why.
	vault := httptest.NewServer(vaulttest.New(t))
	t.Cleanup(vault.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(vaulttest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newDatabaseEnv(t)
	login, err := kit.CreateServiceLogin(waitContext(t), h.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"DATABASE_URL=" + login, "CAUSEWAY_MASTER_KEY=vault:" + vault.URL + "/transit/causeway",
		"CAUSEWAY_VAULT_TOKEN_FILE=" + token}
	h.server = startServerWith(t, environment, "serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--connections", "8")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	client := portstest.NewWalletClient(t)
	openSession := func() {
		t.Helper()
		customer := h.post("/customers", customerBody(object{"email": "ana@example.com"})).wantStatus(201).text("id")
		wallet := h.get("/customers/internal-accounts?currency=USDB&customerId=" + customer).wantStatus(200).text("data.0.id")
		credential := h.get("/auth/credentials?accountId=" + wallet).wantStatus(200).text("data.0.id")
		session := h.post("/auth/credentials/"+credential+"/verify", object{"type": "EMAIL_OTP", "otp": sandbox.WalletCode,
			"clientPublicKey": hex.EncodeToString(client.Public.Bytes())}).wantStatus(200)
		if _, err := client.OpenSessionKey(session.text("encryptedSessionSigningKey")); err != nil {
			t.Fatal(err)
		}
	}

	openSession()
	vault.Close()
	openSession()

	_, errOut, status := runCommand(t, environment, "serve", "--listen", "127.0.0.1:0")
	if status != 1 || !strings.Contains(errOut, "vault: decrypt with 127.0.0.1") {
		t.Errorf("without Vault: status %d, %s", status, errOut)
	}
	if n := h.queryInt("SELECT count(*) FROM data_keys WHERE get_byte(encrypted_key, 0) <> 3"); n != 0 {
		t.Errorf("%d data keys are not encrypted by Vault", n)
	}
}
