package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/devnet"
	"causeway/e2e/kit"
)

// walletChainEnv is a production platform whose embedded wallets hold a token on a chain of their own.
type walletChainEnv struct {
	*chainEnv
	mails    string
	embedded string // the wallet of the customer
}

// newWalletChainEnv returns an env whose token takes authorisations.
func newWalletChainEnv(t testing.TB) *walletChainEnv {
	return newWalletChainEnvIn(t, "TestAuthorizedToken")
}

func newWalletChainEnvIn(t testing.TB, contract string) *walletChainEnv {
	t.Helper()
	e := &walletChainEnv{mails: t.TempDir(), chainEnv: &chainEnv{testEnv: newDatabaseEnv(t),
		chain: devnet.Start(t, "../adapters/rails/evm/node")}}
	e.usdc = e.chain.DeployContract(contract)
	folder := t.TempDir()
	for name, text := range map[string]string{"seed": strings.Repeat("0123456789abcdef", 4), "wallets.json": `{
		"adapter": "EVM", "rails": ["BASE"], "currencies": ["USDB"], "settings": {"urls": "` + e.chain.URL + `", "chainId": "31337",
			"seed": "file:` + filepath.Join(folder, "seed") + `", "usdbContract": "` + e.usdc.Address + `", "confirmations": "2"}}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.operator("rails", "set", "wallets", filepath.Join(folder, "wallets.json"), "--note", "Embedded wallets", "--actor", "ana")
	_, rest, found := strings.Cut(e.operator("rails", "test", "wallets"), "wallet ")
	if !found {
		t.Fatal("the test of the connection names no wallet")
	}
	e.wallet = rest[:42]
	e.chain.Call("hardhat_setBalance", e.wallet, "0xde0b6b3a7640000") // one ether
	e.chain.Call("evm_setIntervalMining", 1000)
	login, err := kit.CreateServiceLogin(waitContext(t), e.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	e.login, e.options = login, []string{"--mail-folder", e.mails}
	e.server = startServerAs(t, e.login, e.options...)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.customer = e.createCustomer(object{"email": "ana@example.com"})
	e.embedded = e.walletOf(e.customer)
	eventually(t, "the wallet has an address", func() bool {
		account := e.get("/customers/internal-accounts?currency=USDB&customerId=" + e.customer).wantStatus(200)
		e.address, _ = account.value("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.address").(string)
		return e.address != ""
	})
	return e
}

func (e *walletChainEnv) balance(currency string) int64 {
	accounts := e.get("/customers/internal-accounts?currency=" + currency + "&customerId=" + e.customer)
	return accounts.wantStatus(200).int("data.0.balance.amount")
}

// pay signs and executes a quote from the wallet, and kills the service after each step: once a transaction of the purpose is signed.
func (e *walletChainEnv) pay(signer sessionSigner, quote apiResponse, steps ...string) {
	e.t.Helper()
	signed := func(purpose string) int64 {
		return e.queryInt(`SELECT count(*) FROM evm_transactions WHERE purpose = '` + purpose + `'`)
	}
	before := map[string]int64{}
	for _, purpose := range steps {
		before[purpose] = signed(purpose)
	}
	e.executeSigned(quote, signer.sign(e.t.(*testing.T), payloadToSign(quote))).wantStatus(200)
	for _, purpose := range steps {
		eventually(e.t, "signed: "+purpose, func() bool { return signed(purpose) > before[purpose] })
		e.restart()
	}
	e.completed(quote)
}

func (e *walletChainEnv) completed(quote apiResponse) {
	e.t.Helper()
	eventually(e.t, "the payment is completed", func() bool {
		return e.get("/transactions/"+quote.text("transactionId")).wantStatus(200).value("status") == "COMPLETED"
	})
}

func TestWalletChain_PaysOnTheChainOfAConnection(t *testing.T) {
	t.Parallel()
	// A wallet of a production platform is paid into on the chain, pays with its owner's signature, and is paid. The service is killed
	// while the payments are on their way: each moves once, and the ledger has what the chain holds. The exported words are the wallet
	// of the same address in other programs; what its owner moves with them is kept for a person.
	e := newWalletChainEnv(t)
	e.usdc.Mint(e.address, 50_000_000)
	e.restart()
	eventually(t, "the deposit is credited", func() bool { return e.balance("USDB") == 50_000_000 })
	signer := e.openSessionByMail(e.mails, e.embedded)
	dollars := e.get("/customers/internal-accounts?currency=USD&customerId=" + e.customer).wantStatus(200).text("data.0.id")
	// The operator's own ether pays for the fees, so it is the company's money on the chain.
	e.operator("ledger", "treasury", "transfer", "--from", "own/OPERATING", "--to", "chains/BASE", "--amount", "1 ETH", "--note", "For fees",
		"--allow-overdraft")

	quote := e.quoteFromWallet(e.embedded, dollars)
	var said struct {
		Version    int
		Settlement struct{ Network, Contract, To string }
	}
	if err := json.Unmarshal([]byte(payloadToSign(quote)), &said); err != nil || said.Version != 2 || said.Settlement.Network != "BASE" ||
		said.Settlement.Contract != e.usdc.Address || said.Settlement.To != e.wallet {
		t.Errorf("%s, %v", payloadToSign(quote), err)
	}
	e.executeSigned(quote, signer.sign(t, payloadToSign(quote)+" ")).wantError(401, "UNAUTHORIZED")
	e.pay(signer, quote, "WALLET_DEBIT")
	if e.usdc.Balance(e.address) != 25_000_000 || e.usdc.Balance(e.wallet) != 25_000_000 || e.balance("USDB") != 25_000_000 ||
		e.balance("USD") == 0 {
		t.Errorf("the wallet has %d on the chain and %d in the ledger, that of the connection %d", e.usdc.Balance(e.address), e.balance("USDB"),
			e.usdc.Balance(e.wallet))
	}

	back := e.post("/quotes", object{"source": object{"accountId": dollars}, "destination": object{"accountId": e.embedded},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": 4_000_000}).wantStatus(201)
	e.post("/quotes/"+back.text("id")+"/execute", nil).wantStatus(200)
	e.completed(back)
	if e.usdc.Balance(e.address) != 29_000_000 || e.balance("USDB") != 29_000_000 {
		t.Errorf("the wallet has %d on the chain and %d in the ledger", e.usdc.Balance(e.address), e.balance("USDB"))
	}
	e.provesRails("wallets")

	words := e.export(signer)
	address := strings.TrimSpace(e.otherWallet("WORDS=" + words))
	if address != e.address {
		t.Fatalf("the words are those of %s, the wallet has %s", address, e.address)
	}
	e.chain.Call("hardhat_setBalance", e.address, "0xde0b6b3a7640000")
	payee := "0x" + strings.ReplaceAll(uuid.NewString(), "-", "") + "00000000"
	e.otherWallet("WORDS="+words, "NODE="+e.chain.URL, "TOKEN="+e.usdc.Address, "TO="+payee, "AMOUNT=9000000")
	eventually(t, "what the owner has moved is kept", func() bool {
		return strings.Contains(e.operator("rails", "inbox", "list", "--connection", "wallets"), "9.00")
	})
	if out := e.operator("ledger", "check"); !regexp.MustCompile(`payments of their wallets +1 `).MatchString(out) {
		t.Error(out)
	}
}

func TestWalletChain_PaysTheGasOfEveryToken(t *testing.T) {
	t.Parallel()
	// A token that takes permits, and one that takes nothing but transactions of the wallet, are paid with. The service is killed after
	// each step, every payment moves once, two of one wallet at once both move, and the ledger has what the chain holds.
	for contract, tt := range map[string]struct {
		method string
		steps  []string
	}{
		"TestPermitToken": {"PERMIT", []string{"WALLET_PERMIT", "WALLET_DEBIT"}},
		"TestTether":      {"TRANSACTION", []string{"WALLET_TOP_UP", "WALLET_DEBIT"}},
	} {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			e := newWalletChainEnvIn(t, contract)
			e.usdc.Mint(e.address, 80_000_000)
			eventually(t, "the deposit is credited", func() bool { return e.balance("USDB") == 80_000_000 })
			signer := e.openSessionByMail(e.mails, e.embedded)
			dollars := e.get("/customers/internal-accounts?currency=USD&customerId=" + e.customer).wantStatus(200).text("data.0.id")
			e.operator("ledger", "treasury", "transfer", "--from", "own/OPERATING", "--to", "chains/BASE", "--amount", "1 ETH", "--note",
				"For fees", "--allow-overdraft")

			quote := e.quoteFromWallet(e.embedded, dollars)
			if !strings.Contains(payloadToSign(quote), `"method":"`+tt.method+`"`) {
				t.Errorf("%s", payloadToSign(quote))
			}
			e.pay(signer, quote, tt.steps...)
			both := []apiResponse{e.quoteFromWallet(e.embedded, dollars), e.quoteFromWallet(e.embedded, dollars)}
			for _, q := range both {
				e.executeSigned(q, signer.sign(t, payloadToSign(q))).wantStatus(200)
			}
			for _, q := range both {
				e.completed(q)
			}
			if e.usdc.Balance(e.address) != 5_000_000 || e.usdc.Balance(e.wallet) != 75_000_000 || e.balance("USDB") != 5_000_000 {
				t.Errorf("the wallet has %d on the chain and %d in the ledger, that of the connection %d", e.usdc.Balance(e.address),
					e.balance("USDB"), e.usdc.Balance(e.wallet))
			}
			e.provesRails("wallets")
			if out := e.operator("ledger", "check"); !regexp.MustCompile(`payments of their wallets +3 `).MatchString(out) {
				t.Error(out)
			}
		})
	}
}

func TestWalletChain_RefundMovesBackOnTheChain(t *testing.T) {
	t.Parallel()
	// A payment to the UMA address of another customer, whose platform does not approve it, has left the wallet on the chain, and comes
	// back there.
	e := newWalletChainEnv(t)
	e.usdc.Mint(e.address, 50_000_000)
	eventually(t, "the deposit is credited", func() bool { return e.balance("USDB") == 50_000_000 })
	other := e.createCustomer(object{"email": "bo@example.com"})
	signer := e.openSessionByMail(e.mails, e.embedded)
	uma := e.get("/customers/" + other).wantStatus(200).text("umaAddress")
	lookup := e.get("/receiver/uma/" + url.PathEscape(uma) + "?customerId=" + e.customer).wantStatus(200)
	refused := e.post("/quotes", object{"source": object{"accountId": e.embedded}, "lookupId": lookup.text("lookupId"),
		"destination":        object{"umaAddress": uma, "currency": "USDB"},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25_000_000}).wantStatus(201)
	e.executeSigned(refused, signer.sign(t, payloadToSign(refused))).wantStatus(200)
	eventually(t, "the payment is refunded", func() bool {
		return e.get("/transactions/"+refused.text("transactionId")).wantStatus(200).value("refund.status") == "COMPLETED"
	})
	if e.usdc.Balance(e.address) != 50_000_000 || e.balance("USDB") != 50_000_000 {
		t.Errorf("refunded, the wallet has %d on the chain and %d in the ledger", e.usdc.Balance(e.address), e.balance("USDB"))
	}
	e.provesRails("wallets")
}

func TestWalletChain_SimulatedChainIsRefusedBesideIt(t *testing.T) {
	t.Parallel()
	// With a connection for wallets, the simulated chain settles nothing.
	e := newWalletChainEnv(t)
	e.options = append(e.options, "--wallet-chain", "simulated")
	e.restart()
	dollars := e.get("/customers/internal-accounts?currency=USD&customerId=" + e.customer).wantStatus(200).text("data.0.id")
	eventually(t, "the connection is open", func() bool {
		refused := e.post("/quotes", object{"source": object{"accountId": e.embedded}, "destination": object{"accountId": dollars},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25_000_000})
		return refused.status == 501 && strings.Contains(refused.text("message"), "CAUSEWAY_WALLET_CHAIN")
	})
}

// provesRails waits until the ledger has what a connection holds.
func (e *walletChainEnv) provesRails(connection string) {
	e.t.Helper()
	eventually(e.t, "the ledger has what the chain holds", func() bool {
		out, _, status := runCommand(e.t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, connection)
	})
}

// export returns the words of the wallet, as its owner gets them.
func (e *walletChainEnv) export(signer sessionSigner) string {
	e.t.Helper()
	t := e.t.(*testing.T)
	o := &walletOwner{tenant: e.tenant, wallet: e.embedded}
	client, public := o.newClient()
	path, body := "/internal-accounts/"+e.embedded+"/export", object{"clientPublicKey": public}
	first := o.call("POST", path, body).wantStatus(202)
	exported := o.with(first.text("requestId"), signer.sign(t, first.text("payloadToSign"))).call("POST", path, body).wantStatus(200)
	words, err := client.OpenExport(exported.text("encryptedWalletCredentials"))
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// otherWallet runs a program that knows the words of a wallet, and nothing of the service.
func (e *walletChainEnv) otherWallet(env ...string) string {
	e.t.Helper()
	done, err := kit.MustSucceed(waitContext(e.t), nodeProgram(e.t.(*testing.T), env, "exported-wallet.mjs"))
	if err != nil {
		e.t.Fatal(err)
	}
	return done.Output
}
