package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/devnet"
	"causeway/e2e/kit"
)

// chainEnv is a production platform with a wallet on a real chain of its own.
type chainEnv struct {
	*testEnv
	chain             *devnet.Chain
	usdc              devnet.Token
	wallet, login     string
	options           []string // of the service
	customer, account string   // a customer with an account in USDC
	address           string   // for deposits to it
}

func newChainEnv(t testing.TB) *chainEnv {
	t.Helper()
	e := &chainEnv{testEnv: newDatabaseEnv(t), chain: devnet.Start(t, "../adapters/rails/evm/node")}
	e.usdc = e.chain.Deploy("USDC", 6)
	folder := t.TempDir()
	for name, text := range map[string]string{"seed": strings.Repeat("0123456789abcdef", 4), "base-usdc.json": `{
		"adapter": "EVM", "rails": ["BASE"], "currencies": ["USDC"], "settings": {"urls": "` + e.chain.URL + `", "chainId": "31337",
			"seed": "file:` + filepath.Join(folder, "seed") + `", "usdcContract": "` + e.usdc.Address + `", "confirmations": "2"}}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.operator("rails", "set", "base-usdc", filepath.Join(folder, "base-usdc.json"), "--note", "USDC on Base", "--actor", "ana")
	tested := e.operator("rails", "test", "base-usdc")
	_, rest, found := strings.Cut(tested, "wallet ")
	if !found {
		t.Fatalf("the test of the connection names no wallet:\n%s", tested)
	}
	e.wallet = rest[:42]
	e.chain.Call("hardhat_setBalance", e.wallet, "0xde0b6b3a7640000") // one ether
	e.chain.Call("evm_setIntervalMining", 1000)
	login, err := kit.CreateServiceLogin(waitContext(t), e.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	e.login = login
	e.server = startServerAs(t, e.login)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.customer = e.createCustomer()
	eventually(t, "the account has an address", func() bool {
		account := e.get("/customers/internal-accounts?currency=USDC&customerId=" + e.customer).wantStatus(200)
		e.account = account.text("data.0.id")
		e.address, _ = account.value("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.address").(string)
		return e.address != ""
	})
	return e
}

// operator runs a command of the operator.
func (e *chainEnv) operator(args ...string) string {
	e.t.Helper()
	return mustRunCommand(e.t, e.operatorEnv(), args...)
}

func (e *chainEnv) operatorEnv() []string {
	return []string{"DATABASE_URL=" + e.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
}

// restart kills the service and starts it again. The leases of the killed process would end within three minutes.
func (e *chainEnv) restart() {
	e.server.kill()
	e.exec(`UPDATE bitcoin_wallets SET leased_until = '-infinity'`)
	e.exec(`UPDATE rail_feeds SET leased_until = '-infinity'`)
	e.server = startServerAs(e.t, e.login, e.options...)
	e.tenant.BaseURL = e.server.baseURL
}

func TestEVM_MoneyComesInAndGoesOut(t *testing.T) {
	t.Parallel()
	// A deposit on the chain is credited and swept to the wallet, and a payout from there arrives. The service is killed
	// while each of them is on its way: everything moves once, and the ledger has what the chain holds.
	e := newChainEnv(t)
	e.usdc.Mint(e.address, 25_000_000)
	e.restart()
	balance := func() int64 {
		return e.get("/customers/internal-accounts?currency=USDC&customerId=" + e.customer).wantStatus(200).int("data.0.balance.amount")
	}
	eventually(t, "the deposit is credited", func() bool { return balance() == 25_000_000 })
	eventually(t, "the deposit is swept", func() bool { return e.usdc.Balance(e.wallet) == 25_000_000 })

	// The operator's own ether pays for the fees, so it is the company's money on the chain.
	e.operator("ledger", "treasury", "transfer", "--from", "own/OPERATING", "--to", "chains/BASE", "--amount", "1 ETH", "--note", "For fees",
		"--allow-overdraft")
	payee := "0x" + strings.ReplaceAll(uuid.NewString(), "-", "") + "00000000"
	to := e.post("/customers/external-accounts",
		kit.AccountBody(e.customer, "USDC", object{"accountType": "BASE_WALLET", "address": payee})).wantStatus(201).text("id")
	sent := e.post("/transfer-out", object{"source": object{"accountId": e.account}, "destination": object{"accountId": to},
		"amount": 10_000_000}).wantStatus(201)
	eventually(
		t, "the payout is signed", func() bool { return e.queryInt(`SELECT count(*) FROM evm_transactions WHERE purpose = 'PAYOUT'`) == 1 })
	e.restart()
	eventually(t, "the payout is done", func() bool {
		return e.get("/transactions/"+sent.text("id")).wantStatus(200).value("status") == "COMPLETED"
	})

	if e.usdc.Balance(payee) != 10_000_000 || e.usdc.Balance(e.wallet) != 15_000_000 || balance() != 15_000_000 {
		t.Errorf("the payee has %d, the wallet %d, the customer %d", e.usdc.Balance(payee), e.usdc.Balance(e.wallet), balance())
	}
	if n := e.chain.Number("eth_getTransactionCount", e.wallet, "latest").Int64(); n != 2 {
		t.Errorf("the wallet has sent %s transactions, want the fee of a sweep and a payout", strconv.FormatInt(n, 10))
	}
	proof := ""
	defer func() {
		if t.Failed() {
			t.Logf("the last proof:\n%s", proof)
		}
	}()
	eventually(t, "the ledger has what the chain holds", func() bool {
		out, problem, status := runCommand(t, e.operatorEnv(), "rails", "prove")
		proof = out + problem
		return status == 0 && strings.Contains(out, "base-usdc")
	})
}

func BenchmarkEVM_ThousandDeposits(b *testing.B) {
	// From the last confirmation of a block with 1,000 deposits to the credit of each: read from the node, checked, stored and
	// posted by the service.
	e := newChainEnv(b)
	const deposits, perCall = 1000, 250
	e.chain.Call("evm_setIntervalMining", 0)
	e.chain.Call("evm_setAutomine", false) // so that all of them are in one block
	e.chain.Call("evm_setBlockGasLimit", "0x3b9aca00")
	for range deposits - 1 {
		e.createCustomer()
	}
	var addresses []string
	eventually(b, "every account has an address", func() bool {
		return e.queryInt(`SELECT count(*) FROM evm_addresses`) >= deposits
	})
	rows, err := e.db.Query(`SELECT '0x' || encode(address, 'hex') FROM evm_addresses LIMIT $1`, deposits)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var address string
		if err := rows.Scan(&address); err != nil {
			b.Fatal(err)
		}
		addresses = append(addresses, address)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	want := int64(0)
	for b.Loop() {
		b.StopTimer()
		for some := range slices.Chunk(addresses, perCall) {
			e.usdc.MintMany(some, 1_000)
		}
		e.chain.Mine(2)
		want += deposits
		b.StartTimer()
		eventually(b, "the deposits are credited", func() bool {
			return e.queryInt(`SELECT count(*) FROM ledger_postings WHERE kind = 'deposit'`) == want
		})
	}
	b.ReportMetric(float64(deposits*b.N)/b.Elapsed().Seconds(), "deposits/s")
}
