package e2e

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// externalWallets are wallets outside of the service, of libraries that people use, by name. Their owner has one key.
type externalWallets struct {
	key       string
	addresses map[string]string
}

func newExternalWallets(t *testing.T) externalWallets {
	t.Helper()
	w := externalWallets{key: hex.EncodeToString([]byte("a key of thirty-two bytes, fixed"))}
	w.addresses = w.run(t)
	return w
}

func (w externalWallets) run(t *testing.T, env ...string) (answer map[string]string) {
	t.Helper()
	result, err := kit.MustSucceed(waitContext(t), nodeProgram(t, append(env, "KEY="+w.key), "wallet-ownership.mjs"))
	if err == nil {
		err = json.Unmarshal([]byte(result.Output), &answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (w externalWallets) sign(t *testing.T, messages map[string]string) map[string]string {
	t.Helper()
	text, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	return w.run(t, "MESSAGES="+string(text))
}

// walletKinds are the types and currencies of the wallets, with the scheme of their signatures.
var walletKinds = map[string]struct{ accountType, currency, scheme string }{
	"evm": {"ETHEREUM_WALLET", "USDC", ""}, "p2pkh": {"BITCOIN_L1", "BTC", ""}, "p2shP2wpkh": {"BITCOIN_L1", "BTC", "bip137"},
	"p2wpkh": {"BITCOIN_L1", "BTC", ""}, "electrum": {"BITCOIN_L1", "BTC", "electrum"}, "electrumP2sh": {"BITCOIN_L1", "BTC", "electrum"},
	"solana": {"ALTCHAIN_WALLET", "USDC", ""},
}

func ownedWallet(customer, accountType, currency, address string) object {
	return object{"customerId": customer, "currency": currency, "ownershipType": "FIRST_PARTY",
		"accountInfo": object{"accountType": accountType, "address": address}}
}

func TestWalletOwnership_SignaturesOfLibraries(t *testing.T) {
	t.Parallel()
	// A wallet of each kind is proven with the signature that a library makes of the message, byte for byte; that of the wallet of
	// somebody else is refused. Each change of the status is an event.
	h := newSharedEnv(t)
	wallets := newExternalWallets(t)
	const path = "/customers/external-accounts"
	ids, messages := map[string]string{}, map[string]string{}
	for name, kind := range walletKinds { // Each address belongs to a customer of its own: two of them are the same.
		created := h.post(path, ownedWallet(h.createCustomer(), kind.accountType, kind.currency, wallets.addresses[name])).wantStatus(201).
			wantValues(map[string]any{"status": "PENDING_OWNERSHIP_VERIFICATION", "ownershipType": "FIRST_PARTY"})
		ids[name] = created.text("id")
		h.post(path+"/"+ids[name]+"/verify", object{"signature": "0x00"}).wantError(409, "CONFLICT")
		challenge := h.post(path+"/"+ids[name]+"/challenge", object{"method": "WALLET_SIGNATURE"}).wantStatus(201)
		messages[name] = challenge.text("messageToSign")
		if !strings.Contains(messages[name], ids[name]) || !strings.Contains(messages[name], wallets.addresses[name]) {
			t.Errorf("%s signs %q", name, messages[name])
		}
	}
	signatures, others := wallets.sign(t, messages), wallets.sign(t, rotated(messages))

	for name, kind := range walletKinds {
		body := object{"signature": others[name]}
		if kind.scheme != "" {
			body["signatureScheme"] = kind.scheme
		}
		h.post(path+"/"+ids[name]+"/verify", body).wantError(400, "INVALID_INPUT")
		h.get(path + "/" + ids[name]).wantValues(map[string]any{"status": "UNVERIFIED"})
		body["signature"] = signatures[name]
		h.post(path+"/"+ids[name]+"/verify", body).wantStatus(200).wantValues(map[string]any{"status": "ACTIVE"})
		h.post(path+"/"+ids[name]+"/challenge", object{"method": "WALLET_SIGNATURE"}).wantError(409, "CONFLICT")
	}
	events := h.get("/webhooks?limit=100&event=EXTERNAL_ACCOUNT.STATUS_UPDATED")
	if events.status == 200 && strings.Count(string(events.body), `"EXTERNAL_ACCOUNT.STATUS_UPDATED"`) < 2*len(walletKinds) {
		t.Errorf("events: %s", events.body)
	}
}

// rotated returns the messages, each under the next name.
func rotated(messages map[string]string) map[string]string {
	other := map[string]string{}
	last := ""
	for name := range messages {
		if last != "" {
			other[last] = messages[name]
		}
		last = name
	}
	other[last] = "none of them"
	return other
}

func TestWalletOwnership_LimitsOfPayments(t *testing.T) {
	t.Parallel()
	// A customer in Germany is paid up to 1000 euros to a wallet without a proof, by a quote and by a transfer; above that once it is
	// proven, or a custodian holds it. A wallet that is registered as ever, and a customer elsewhere, have no limit. The payments need
	// no strong customer authentication.
	h := newSharedEnv(t)
	if text, errors, status := runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "platform", "set",
		"--platform", h.platformID, "--no-sca-payments", "--actor", "ana"); status != 0 {
		t.Fatalf("%s%s", text, errors)
	}
	create := func(region string) string {
		return h.post("/customers", object{"customerType": "INDIVIDUAL", "fullName": "Ana Ng", "region": region}).wantStatus(201).text("id")
	}
	ana, bob := create("DE"), create("US")
	const path = "/customers/external-accounts"
	address := func(last string) string { return "0xAb5801a7D398351b8bE11C439e05C5B3259a" + last }
	register := func(body object) string { return h.post(path, body).wantStatus(201).text("id") }
	own := register(ownedWallet(ana, "ETHEREUM_WALLET", "USDC", strings.ToLower(address("ec9b"))))
	elsewhere := register(ownedWallet(bob, "ETHEREUM_WALLET", "USDC", strings.ToLower(address("ec9b"))))
	old := ownedWallet(ana, "ETHEREUM_WALLET", "USDC", strings.ToLower(address("ec9c")))
	delete(old, "ownershipType")
	asEver := register(old)
	held := ownedWallet(ana, "ETHEREUM_WALLET", "USDC", strings.ToLower(address("ec9d")))
	held["accountInfo"].(object)["vaspName"] = "No such custodian"
	h.post(path, held).wantError(400, "INVALID_INPUT")
	held["accountInfo"].(object)["vaspName"] = "Kraken"
	custodial := register(held)
	quote := func(customer, to string, minor int64) apiResponse {
		return h.post("/quotes", object{"source": object{"sourceType": "REALTIME_FUNDING", "customerId": customer, "currency": "USD"},
			"destination": object{"destinationType": "ACCOUNT", "accountId": to}, "lockedCurrencySide": "RECEIVING",
			"lockedCurrencyAmount": minor})
	}
	const small, large = 500_000_000, 5_000_000_000 // USDC has six decimals

	quote(ana, own, large).wantError(400, "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED")
	accepted := quote(ana, own, small).wantStatus(201)
	quote(ana, asEver, large).wantStatus(201)
	quote(bob, elsewhere, large).wantStatus(201)
	quote(ana, custodial, large).wantStatus(201)

	h.get("/transactions/" + accepted.text("transactionId")).wantStatus(200).wantValues(map[string]any{
		"travelRule.originator.name": "Ana Ng", "travelRule.originator.country": "DE", "travelRule.beneficiary.name": "Ana Ng",
		"travelRule.ownershipType": "FIRST_PARTY"})
	h.post(path+"/"+own+"/challenge", object{"method": "WALLET_SIGNATURE"}).wantStatus(201)
	h.post(path+"/"+own+"/verify", object{"signature": "sandbox-valid-signature"}).wantStatus(200).
		wantValues(map[string]any{"status": "ACTIVE"})
	proven := quote(ana, own, large).wantStatus(201)
	h.get("/transactions/" + proven.text("transactionId")).wantStatus(200).wantValues(map[string]any{
		"travelRule.proofMethod": "WALLET_SIGNATURE"})
	stranger := ownedWallet(ana, "ETHEREUM_WALLET", "USDC", strings.ToLower(address("ec9e")))
	stranger["ownershipType"] = "THIRD_PARTY"
	h.post(path, stranger).wantError(400, "INVALID_INPUT")
	stranger["accountInfo"].(object)["beneficiary"] = object{"beneficiaryType": "INDIVIDUAL", "fullName": "Bo Berg",
		"countryOfResidence": "SE"}
	h.get("/transactions/" + quote(ana, register(stranger), large).wantStatus(201).text("transactionId")).wantStatus(200).
		wantValues(map[string]any{"travelRule.beneficiary.name": "Bo Berg", "travelRule.beneficiary.country": "SE"})
}

func TestWalletOwnership_LivenessSurvivesACrash(t *testing.T) {
	t.Parallel()
	// The verdict of the identity provider makes a wallet ACTIVE or UNVERIFIED, also if the service was killed after the challenge.
	h := newTestEnv(t)
	const path = "/customers/external-accounts"
	start := func(address string) string {
		id := h.post(path, ownedWallet(h.createCustomer(), "TRON_WALLET", "USDT", address)).wantStatus(201).text("id")
		h.post(path+"/"+id+"/challenge", object{"method": "WALLET_SIGNATURE"}).wantError(400, "INVALID_INPUT")
		link := h.post(path+"/"+id+"/challenge", object{"method": "LIVENESS"}).wantStatus(201).text("verificationLink")
		if !strings.HasPrefix(link, "https://") {
			t.Errorf("the link is %q", link)
		}
		return id
	}
	passes, fails := start("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"), start("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgj008")

	h.server.kill()
	restarted := h.withServer(startServer(t, h.databaseURL))
	for id, want := range map[string]string{passes: "ACTIVE", fails: "UNVERIFIED"} {
		eventually(t, id+" is "+want, func() bool { return restarted.get(path+"/"+id).text("status") == want })
	}
}

func TestWalletOwnership_Directory(t *testing.T) {
	t.Parallel()
	// The directory pages in order of names; an import replaces it, and says what changes and how many accounts have a name that is gone.
	h := newTestEnv(t)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	body := ownedWallet(h.createCustomer(), "ETHEREUM_WALLET", "USDC", "0xab5801a7d398351b8be11c439e05c5b3259aec9b")
	body["accountInfo"].(object)["vaspName"] = "Kraken"
	h.post("/customers/external-accounts", body).wantStatus(201)
	first := h.get("/vasps?limit=2").wantStatus(200).wantValues(map[string]any{"hasMore": true})
	h.get("/vasps?limit=2&cursor=" + first.text("nextCursor")).wantStatus(200)
	h.get("/vasps?cursor=x").wantError(400, "INVALID_INPUT")

	file := filepath.Join(t.TempDir(), "custodians.csv")
	if err := os.WriteFile(file, []byte("name,url\nCoinbase Exchange,https://www.coinbase.com\nKeeper,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := mustRunCommand(t, env, "customers", "vasps", "import", file, "--dry-run", "--actor", "ana")
	if !strings.Contains(out, "Keeper") || len(h.get("/vasps").list("data")) != 20 {
		t.Errorf("the dry run: %s", out)
	}
	out = mustRunCommand(t, env, "customers", "vasps", "import", file, "--actor", "ana", "--output", "csv")
	if !strings.Contains(out, "Kraken,,1") || !strings.Contains(out, "Coinbase,Coinbase Exchange,0") {
		t.Errorf("the import: %s", out)
	}
	if names := h.get("/vasps").wantValues(map[string]any{"hasMore": false}).list("data"); len(names) != 2 {
		t.Errorf("%v", names)
	}
	h.get("/customers/external-accounts").wantValues(map[string]any{"data.0.accountInfo.vaspName": "Kraken"})
	body["accountInfo"].(object)["address"] = "0xab5801a7d398351b8be11c439e05c5b3259aec9c"
	h.post("/customers/external-accounts", body).wantError(400, "INVALID_INPUT")
}
