package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/core/sandbox"
	"causeway/e2e/kit"
	"causeway/ports/portstest"
)

// walletOf returns the id of the embedded wallet of a customer.
func (p *tenant) walletOf(customer string) string {
	p.t.Helper()
	return p.get("/customers/internal-accounts?currency=USDB&customerId=" + customer).wantStatus(200).text("data.0.id")
}

// quoteFromWallet creates a quote that sends 25 USDB from a wallet to an account.
func (p *tenant) quoteFromWallet(wallet, to string) apiResponse {
	p.t.Helper()
	return p.post("/quotes", object{"source": object{"accountId": wallet}, "destination": object{"accountId": to},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25_000_000}).wantStatus(201).wantValues(map[string]any{
		"status": "PENDING", "paymentInstructions.0.accountOrWalletInfo.accountType": "EMBEDDED_WALLET"})
}

func payloadToSign(quote apiResponse) string {
	return quote.text("paymentInstructions.0.accountOrWalletInfo.payloadToSign")
}

func (p *tenant) executeSigned(quote apiResponse, signature string) apiResponse {
	p.t.Helper()
	return p.withHeader("Service-Wallet-Signature", signature).post("/quotes/"+quote.text("id")+"/execute", nil)
}

func TestWalletPayments_OwnerSigns(t *testing.T) {
	t.Parallel()
	// In the sandbox a wallet is funded, pays with the test value, is paid, and pays within its currency.
	// Without a signature, or with another one, it pays nothing. The timeline shows the evidence, and the
	// ledger check finds all of it.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	wallet, coins := h.walletOf(customer), h.createWallet(customer, "")
	h.post("/quotes", object{"source": object{"accountId": wallet}, "destination": object{"accountId": coins}, "lockedCurrencySide": "SENDING",
		"lockedCurrencyAmount": 25_000_000}).
		wantError(400, "INSUFFICIENT_FUNDS")
	h.post("/sandbox/internal-accounts/"+wallet+"/fund", object{"amount": 100_000_000}).wantStatus(200)
	h.post("/quotes", object{"source": object{"accountId": wallet}, "destination": object{"accountId": coins}, "lockedCurrencySide": "SENDING",
		"lockedCurrencyAmount": 25_000_000,
		"immediatelyExecute":   true}).wantError(400, "INVALID_INPUT")
	quote := h.quoteFromWallet(wallet, coins)
	execute := "/quotes/" + quote.text("id") + "/execute"

	h.post(execute, nil).wantError(401, "UNAUTHORIZED").wantValues(map[string]any{"reason": "Missing Service-Wallet-Signature"})
	h.executeSigned(quote, "sandbox-valid-signatur").wantError(401,
		"UNAUTHORIZED").wantValues(map[string]any{"reason": "Invalid Service-Wallet-Signature"})
	keyed := h.withHeader("Idempotency-Key", uuid.NewString())
	keyed.post(execute, nil).wantError(401, "UNAUTHORIZED") // not stored under the key
	keyed.withHeader("Service-Wallet-Signature", sandbox.WalletSignature).post(execute,
		nil).wantStatus(200).wantValues(map[string]any{"status": "PROCESSING"})
	h.executeSigned(quote, sandbox.WalletSignature).wantError(409, "QUOTE_ALREADY_EXECUTED")

	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	timeline := h.get("/transactions/" + quote.text("transactionId") + "/timeline").wantStatus(200)
	i := timelineIndex(timeline, "AUTHORIZED")
	timeline.wantValues(map[string]any{i + ".authorization.payload": payloadToSign(quote),
		i + ".authorization.signature":     sandbox.WalletSignature,
		i + ".authorization.signatureForm": "TEST_VALUE", i + ".authorization.accountId": wallet})
	back := h.post("/quotes", object{"source": object{"customerId": customer, "currency": "USD"}, "destination": object{"accountId": wallet},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050}).wantStatus(201)
	h.payQuote(back, 0).wantStatus(200)
	hooks.checkEvents(back.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	failing := h.quoteFromWallet(wallet, h.createWallet(customer, "004"))
	h.executeSigned(failing, sandbox.WalletSignature).wantStatus(200)
	hooks.checkEvents(failing.text("transactionId"), "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
	unrefunded := h.quoteFromWallet(wallet, h.createWallet(customer, "007"))
	h.executeSigned(unrefunded, sandbox.WalletSignature).wantStatus(200)
	hooks.checkEvents(unrefunded.text("transactionId"), "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_FAILED")
	h.get("/customers/internal-accounts?currency=USDB&customerId=" + customer).wantStatus(200).wantValues(map[string]any{
		"data.0.balance.amount": 50_000_000 + back.int("totalReceivingAmount")})
	if out := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "ledger",
		"check"); !regexp.MustCompile(`payments of their wallets +3 `).MatchString(out) {
		t.Error(out)
	}
}

// timelineIndex returns the path of the event of a type in a timeline.
func timelineIndex(timeline apiResponse, kind string) string {
	for i := range timeline.list("data") {
		if path := "data." + string(rune('0'+i)); timeline.text(path+".type") == kind {
			return path
		}
	}
	timeline.t.Fatalf("no event %s: %s", kind, timeline.body)
	return ""
}

func TestWalletPayments_OneSignatureMovesMoneyOnce(t *testing.T) {
	t.Parallel()
	// Of 200 concurrent executions with one signature one moves money. So does one whose answer is lost with
	// the connection to the database, and that is repeated with its key.
	h := newDatabaseEnv(t)
	worker := startServer(t, h.databaseURL)
	between := startDatabaseProxy(t, h.databaseURL)
	h.server = startServer(t, between.URL(), "--no-workers")
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	hooks := (&tenant{client: h.client.withServer(worker), platformID: h.platformID}).startReceiver()
	customer := h.createCustomer()
	wallet, coins := h.walletOf(customer), h.createWallet(customer, "")
	h.post("/sandbox/internal-accounts/"+wallet+"/fund", object{"amount": 100_000_000}).wantStatus(200)
	crowded, lost := h.quoteFromWallet(wallet, coins), h.quoteFromWallet(wallet, coins)

	var all sync.WaitGroup
	statuses := make([]int, 200)
	for i := range statuses {
		all.Go(func() {
			response, err := h.withHeader("Service-Wallet-Signature", sandbox.WalletSignature).do(t.Context(), http.MethodPost,
				"/quotes/"+crowded.text("id")+"/execute", nil)
			if err != nil {
				t.Error(err)
			}
			statuses[i] = response.status
		})
	}
	all.Wait()
	executed := 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			executed++
		case http.StatusConflict:
		default:
			t.Errorf("status %d", status)
		}
	}
	if executed != 1 {
		t.Errorf("%d executions succeeded", executed)
	}
	between.FailNextCommit(kit.CutAfterCommit)
	keyed := h.withHeader("Idempotency-Key", uuid.NewString()).withHeader("Service-Wallet-Signature", sandbox.WalletSignature)
	cuts := between.CommitFaults()
	_, _ = keyed.do(t.Context(), http.MethodPost, "/quotes/"+lost.text("id")+"/execute", nil)
	if between.CommitFaults() != cuts+1 {
		t.Error("no commit was cut")
	}
	keyed.post("/quotes/"+lost.text("id")+"/execute", nil).wantStatus(200)

	for _, quote := range []apiResponse{crowded, lost} {
		hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
		if n := h.queryInt("SELECT count(*) FROM ledger_postings WHERE kind = 'wallet_debit' AND transaction_id = $1",
			uuidOf(quote.text("transactionId"))); n != 1 {
			t.Errorf("%d debits of %s", n, quote.text("id"))
		}
	}
	h.get("/customers/internal-accounts?currency=USDB&customerId=" + customer).wantStatus(200).wantValues(
		map[string]any{"data.0.balance.amount": 50_000_000})
}

// sessionSigner signs with the key of a session.
type sessionSigner struct{ private *ecdsa.PrivateKey }

func (s sessionSigner) sign(t *testing.T, payload string) string {
	t.Helper()
	digest := sha256.Sum256([]byte(payload))
	der, err := ecdsa.SignASN1(rand.Reader, s.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// openSessionByMail opens a session of a wallet with a code from the folder of mails.
func (p *tenant) openSessionByMail(mails, wallet string) sessionSigner {
	p.t.Helper()
	credential := p.get("/auth/credentials?accountId=" + wallet).wantStatus(200).text("data.0.id")
	p.post("/auth/credentials/"+credential+"/challenge", nil).wantStatus(200)
	code := ""
	eventually(p.t, "a mail with a code", func() bool {
		files, _ := filepath.Glob(filepath.Join(mails, "*.eml"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if found := regexp.MustCompile(`(?m)^Subject: (\d{6}) `).FindSubmatch(text); err == nil && found != nil {
				code = string(found[1])
			}
		}
		return code != ""
	})
	return p.openSigner(credential, code)
}

// openSigner opens a session with a code, and returns its key.
func (p *tenant) openSigner(credential, code string) sessionSigner {
	p.t.Helper()
	client := portstest.NewWalletClient(p.t)
	session := p.post("/auth/credentials/"+credential+"/verify", object{"type": "EMAIL_OTP", "otp": code,
		"clientPublicKey": hex.EncodeToString(client.Public.Bytes())}).wantStatus(200)
	key, err := client.OpenSessionKey(session.text("encryptedSessionSigningKey"))
	if err != nil {
		p.t.Fatal(err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key)
	if err != nil {
		p.t.Fatal(err)
	}
	return sessionSigner{private}
}

func TestWalletPayments_SignatureOfProductionProvesItself(t *testing.T) {
	t.Parallel()
	// On a production platform with the simulated chain the owner of a wallet signs a payment with the key
	// of a session. The saved timeline proves it years later, without the service: by a command, and by the
	// program in the documentation. With any part changed it proves nothing.
	mails := t.TempDir()
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL, "--mail-folder", mails, "--wallet-chain", "simulated")
	h.server.awaitLine("Never use this installation for real money")
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")
	customer := h.createCustomer(object{"email": "ana@example.com"})
	wallet := h.walletOf(customer)
	dollars := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	ben := h.tokenOf(h.invite("Ben", "FINANCE"), h.tenant)
	proposed := h.post("/ledger/adjustments", object{"note": "Coins of the customer, brought from another wallet", "ownedAccounts": true,
		"entries": []object{{"debit": "chains/LAYER2", "credit": "wallets/" + wallet, "currency": "USDB", "amount": 100_000_000}}}).wantStatus(
		202)
	ben.post("/ledger/proposals/"+proposed.text("id")+"/approve", nil).wantStatus(200)
	owner := h.openSessionByMail(mails, wallet)
	quote, other := h.quoteFromWallet(wallet, dollars), h.quoteFromWallet(wallet, dollars)

	h.executeSigned(quote, sandbox.WalletSignature).wantError(401, "UNAUTHORIZED")
	h.executeSigned(quote, owner.sign(t, payloadToSign(other))).wantError(401, "UNAUTHORIZED")
	h.executeSigned(quote, owner.sign(t, payloadToSign(quote))).wantStatus(200)

	eventually(t, "the payment", func() bool {
		return h.get("/transactions/"+quote.text("transactionId")).wantStatus(200).text("status") == "COMPLETED"
	})
	timeline := h.get("/transactions/" + quote.text("transactionId") + "/timeline").wantStatus(200)
	i := timelineIndex(timeline, "AUTHORIZED")
	timeline.wantValues(map[string]any{i + ".authorization.signatureForm": "DER", i + ".authorization.payload": payloadToSign(quote)})
	key := timeline.text(i + ".authorization.sessionCertificate.walletPublicKey")
	folder := t.TempDir()
	verify := func(key string, change func(string) string) (command int, node string) {
		t.Helper()
		file := filepath.Join(folder, "payment.json")
		if err := os.WriteFile(file, []byte(change(string(timeline.body))), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, command = runCommand(t, nil, "wallets", "verify", file, "--key", key)
		program := exec.CommandContext(waitContext(t), "node", "-e", documentedVerifier(t), key)
		program.Dir = folder
		out, _ := program.Output()
		node, _, _ = strings.Cut(string(out), " {")
		return command, node
	}

	if command, node := verify(key, strings.Clone); command != 0 || node != "verified" {
		t.Errorf("the payment is not verified: %d, %q", command, node)
	}
	stranger := "02a1633cafcc01ebfb6d78e39f687a1f0995c62fc95f51ead10a02ee0be551b5dc"
	if command, node := verify(stranger, strings.Clone); command != 1 || node == "verified" {
		t.Errorf("verified with the key of another wallet: %d, %q", command, node)
	}
	for old, changed := range map[string]string{
		`\"totalSendingAmount\":25000000`: `\"totalSendingAmount\":25000001`,
		jsonText(payloadToSign(quote)):    jsonText(payloadToSign(other)),
		`\"credentialType\":\"EMAIL_OTP`:  `\"credentialType\":\"PASSKEY`,
	} {
		if command, node := verify(key, func(text string) string {
			if !strings.Contains(text, old) {
				t.Fatalf("the timeline has no %s: %s", old, text)
			}
			return strings.ReplaceAll(text, old, changed)
		}); command != 1 || node == "verified" {
			t.Errorf("verified with %s: %d, %q", changed, command, node)
		}
	}
	if out := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "ledger",
		"check"); !regexp.MustCompile(`payments of their wallets +1 `).MatchString(out) {
		t.Error(out)
	}
}

func TestWalletPayments_ClientOfProductionPaysInSandbox(t *testing.T) {
	t.Parallel()
	// In the sandbox the key of a session signs requests and payments as in production, and what it paid is verified. A payment
	// with the test value is marked, and is not verified.
	h := newSharedEnv(t)
	owner := h.newWalletOwner()
	signer := h.openSigner(owner.credential, sandbox.WalletCode)
	h.post("/sandbox/internal-accounts/"+owner.wallet+"/fund", object{"amount": 100_000_000}).wantStatus(200)
	to := h.createWallet(owner.customer, "")
	verify := func(quote apiResponse, form string) (out string, status int) {
		t.Helper()
		timeline := h.get("/transactions/" + quote.text("transactionId") + "/timeline").wantStatus(200)
		i := timelineIndex(timeline, "AUTHORIZED") + ".authorization"
		timeline.wantValues(map[string]any{i + ".signatureForm": form})
		file := filepath.Join(t.TempDir(), "payment.json")
		if err := os.WriteFile(file, timeline.body, 0o600); err != nil {
			t.Fatal(err)
		}
		out, errOut, status := runCommand(t, nil, "wallets", "verify", file, "--key", timeline.text(i+".sessionCertificate.walletPublicKey"))
		return out + errOut, status
	}

	first := owner.call("PATCH", "/internal-accounts/"+owner.wallet, object{"privateEnabled": false}).wantStatus(202)
	owner.with(first.text("requestId"), signer.sign(t, first.text("payloadToSign"))).call("PATCH", "/internal-accounts/"+owner.wallet,
		object{"privateEnabled": false}).wantStatus(200)
	quote, other := h.quoteFromWallet(owner.wallet, to), h.quoteFromWallet(owner.wallet, to)
	h.executeSigned(quote, signer.sign(t, payloadToSign(other))).wantError(401, "UNAUTHORIZED").wantValues(map[string]any{
		"reason": "Invalid Service-Wallet-Signature"})
	h.executeSigned(quote, signer.sign(t, payloadToSign(quote))).wantStatus(200)
	h.executeSigned(other, sandbox.WalletSignature).wantStatus(200)

	if out, status := verify(quote, "DER"); status != 0 || !strings.HasPrefix(out, "Verified: ") {
		t.Errorf("signed by the client: %d %s", status, out)
	}
	if out, status := verify(other, "TEST_VALUE"); status == 0 || !strings.Contains(out, "a test value of the sandbox, which proves nothing") {
		t.Errorf("with the test value: %d %s", status, out)
	}
}

func TestWalletPayments_ProductionNeedsChain(t *testing.T) {
	t.Parallel()
	// Without a chain no wallet of a production platform pays or is paid, and the fault says what is missing.
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL)
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")
	customer := h.createCustomer()
	dollars := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")

	refused := h.post("/quotes", object{"source": object{"accountId": h.walletOf(customer)}, "destination": object{"accountId": dollars},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25_000_000}).wantError(501, "NOT_IMPLEMENTED")

	if !strings.Contains(refused.text("message"), "chain") {
		t.Errorf("%s", refused.body)
	}
}

// jsonText returns a text as a part of a string of JSON.
func jsonText(text string) string {
	encoded, _ := json.Marshal(text)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(strings.Trim(string(encoded), `"`))
}

// documentedVerifier returns the program of docs/wallets.md that verifies a payment.
func documentedVerifier(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/wallets.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```js\n(.*?)```").FindAllSubmatch(page, -1) {
		if strings.Contains(string(block[1]), "sessionCertificate") {
			// With -e the first argument is in the place of the file's name.
			return strings.ReplaceAll(string(block[1]), "process.argv[2]", "process.argv[1]")
		}
	}
	t.Fatal("docs/wallets.md has no program that verifies a payment")
	return ""
}
