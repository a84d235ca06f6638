package e2e

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

func TestWalletClient_WrittenFromTheDescriptionUsesAWallet(t *testing.T) {
	t.Parallel()
	// The wallet of the client in TypeScript, written from the published description with cryptography from npm, uses a
	// wallet of a production platform, from the first code to the export of its key.
	issuer := startNodeServer(t, nil, "issuer.mjs")
	mails := t.TempDir()
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL, "--mail-folder", mails, "--oidc-issuers", issuer, "--wallet-chain", "simulated")
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")

	ben := h.invite("Ben", "FINANCE,SUPPORT")
	second := h.tokenOf(ben, h.tenant)

	story, err := kit.MustSucceed(waitContext(t), nodeProgram(t, []string{
		"BASE_URL=" + h.BaseURL, "CLIENT_ID=" + h.ClientID, "CLIENT_SECRET=" + h.ClientSecret, "MAIL_FOLDER=" + mails, "ISSUER=" + issuer,
		"SECOND_ID=" + second.ClientID, "SECOND_SECRET=" + second.ClientSecret,
	}, "wallet-story.mjs"))
	if err != nil {
		t.Fatal(err)
	}

	var got struct{ Wallet, PublicKey, ExportedBy string }
	if err := json.Unmarshal([]byte(story.Output), &got); err != nil {
		t.Fatalf("%v: %s", err, story.Output)
	}
	shown := mustRunCommand(t, h.commandLine(ben), "wallets", "show", got.Wallet, "--platform", h.platformID)
	_, exports, _ := strings.Cut(shown, "\nexported ")
	if !strings.Contains(shown, "public key "+got.PublicKey+"\n") || strings.Count(exports, got.ExportedBy) != 1 ||
		strings.Count(exports, "Session:") != 1 {
		t.Errorf("the operator does not see the key %s and one export by %s:\n%s", got.PublicKey, got.ExportedBy, shown)
	}
}

func TestWalletClient_DocumentIsRight(t *testing.T) {
	t.Parallel()
	// The scripts that docs/wallets.md shows of the client are parts of it, and the example there is right.
	document, err := os.ReadFile("../docs/wallets.md")
	if err != nil {
		t.Fatal(err)
	}
	client, err := os.ReadFile("../clients/typescript/src/wallet.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## Write a client\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := func(language string) (texts []string) {
		for _, match := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(section, -1) {
			texts = append(texts, match[1])
		}
		return texts
	}

	scripts, examples := blocks("ts"), blocks("json")
	if len(scripts) == 0 || len(examples) != 1 {
		t.Fatalf("%d scripts and %d examples, want scripts and one example", len(scripts), len(examples))
	}
	for _, script := range scripts {
		if !strings.Contains(string(client), script) {
			t.Errorf("clients/typescript/src/wallet.ts does not contain this script of docs/wallets.md:\n%s", script)
		}
	}
	if _, err := kit.MustSucceed(waitContext(t), nodeProgram(t, []string{"EXAMPLE=" + examples[0]}, "wallet-example.mjs")); err != nil {
		t.Error(err)
	}
}
