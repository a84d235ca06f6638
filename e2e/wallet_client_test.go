package e2e

import (
	"testing"

	"causeway/e2e/kit"
)

func TestWalletClient_WrittenFromTheDescriptionUsesAWallet(t *testing.T) {
	t.Parallel()
	// A client in JavaScript, written from the published description with cryptography from npm, uses a
	// wallet of a production platform, from the first code to the export of its key.
	issuer := startNodeServer(t, nil, "issuer.mjs")
	mails := t.TempDir()
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL, "--mail-folder", mails, "--oidc-issuers", issuer)
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")

	if _, err := kit.MustSucceed(waitContext(t), nodeProgram(t, []string{
		"BASE_URL=" + h.BaseURL, "CLIENT_ID=" + h.ClientID, "CLIENT_SECRET=" + h.ClientSecret, "MAIL_FOLDER=" + mails, "ISSUER=" + issuer,
	}, "wallet-story.mjs")); err != nil {
		t.Fatal(err)
	}
	if n := h.queryInt("SELECT count(*) FROM wallet_exports WHERE platform_id = $1", uuidOf(h.platformID)); n != 1 {
		t.Errorf("%d exports are recorded, want 1", n)
	}
}
