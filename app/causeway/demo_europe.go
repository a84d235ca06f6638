package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/google/uuid"

	"causeway/adapters/cli"
	"causeway/core/ethereum"
)

// europeDemo makes the payments of a customer in Germany, and shows what is asked of them.
type europeDemo struct {
	screen  *screen
	client  *demoClient
	program string // how it was called

	customer, account, payee, wallet string
	key                              *secp256k1.PrivateKey // of the wallet
}

func newEuropeDemo(c cli.Credentials, out io.Writer) *europeDemo {
	s := newScreen(out)
	return &europeDemo{screen: s, client: newDemoClient(c, s), program: os.Args[0]}
}

// run runs all steps. It uses a new customer each time, and changes no setting.
func (d *europeDemo) run(ctx context.Context) error {
	began := time.Now()
	d.screen.writeTitle("Demo: payments of a customer in Germany",
		"Every request below is made now, to "+d.client.BaseURL+". Codes are 123456 in every sandbox.")
	for _, step := range []func(context.Context) error{
		d.createCustomer, d.verifyPhone, d.logIn, d.prepare, d.pay, d.trust, d.registerWallet, d.proveWallet, d.payWallet, d.nameCustodian,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.screen.writeEnd(fmt.Sprintf("Done in %s. Limits of size and of a day are set by the operator: %s platform limits --help.",
		time.Since(began).Round(time.Millisecond), d.program),
		"Read more in docs/strong-authentication.md, docs/wallet-ownership.md, docs/fees.md and docs/limits.md.")
	return d.screen.writeErr
}

func (d *europeDemo) createCustomer(ctx context.Context) error {
	d.screen.beginStep("Create a customer in Germany", "The region decides which rules apply, and never changes. Where a contact has to be "+
		"verified, the customer says which.")
	created, err := d.client.post(ctx, "/customers", `{"platformCustomerId":"demo-`+uuid.NewString()[:8]+`","customerType":"INDIVIDUAL",
		"region":"DE","fullName":"Emmy Noether","birthDate":"1990-03-23","nationality":"DE","phoneNumber":"+491701234567",
		"address":{"line1":"Wilhelmsplatz 1","city":"Goettingen","postalCode":"37073","country":"DE"}}`)
	if err != nil {
		return err
	}
	d.screen.writeFields(created, "id", "kycStatus", "region", "contactVerification.phone")
	d.customer, err = created.requireText("id")
	return err
}

func (d *europeDemo) verifyPhone(ctx context.Context) error {
	d.screen.beginStep("Verify the phone", "Codes for logins and payments are sent to it. In production this one comes by text message.")
	if _, err := d.client.post(ctx, "/customers/"+d.customer+"/verify-phone", ""); err != nil {
		return err
	}
	confirmed, err := d.client.post(ctx, "/customers/"+d.customer+"/verify-phone/confirm", `{"code":"123456"}`)
	if err == nil {
		d.screen.writeFields(confirmed, "contactVerification.phone")
	}
	return err
}

func (d *europeDemo) logIn(ctx context.Context) error {
	d.screen.beginStep("Log in with strong customer authentication", "The customer enrols an authenticator application. Without a session, "+
		"which lasts up to 180 days, it moves no money: Delegated Regulation (EU) 2018/389, article 10.")
	of := "?customerId=" + d.customer
	factor, err := d.client.post(ctx, "/sca/factors"+of, `{"type":"TOTP"}`)
	if err != nil {
		return err
	}
	if _, err := d.client.post(ctx, "/sca/factors/confirm"+of, `{"type":"TOTP","secret":`+quoted(factor.text("secret"))+
		`,"code":"123456"}`); err != nil {
		return err
	}
	opened, err := d.client.post(ctx, "/sca/login/complete"+of, `{"factor":"TOTP","code":"123456","endUserIpAddress":"203.0.113.7"}`)
	if err == nil {
		d.screen.writeFields(opened, "status", "sessionExpiresAt")
	}
	return err
}

func (d *europeDemo) prepare(ctx context.Context) error {
	d.screen.beginStep("Give the customer money, and somebody to pay", "The sandbox funds the account in US dollars; euros are the same.")
	accounts, err := d.client.get(ctx, "/customers/internal-accounts?currency=USD&customerId="+d.customer)
	if err != nil {
		return err
	}
	if d.account = accounts.text("data.0.id"); d.account == "" {
		return fmt.Errorf("the customer has no account in USD: add USD to supportedCurrencies with PATCH /config")
	}
	funded, err := d.client.post(ctx, "/sandbox/internal-accounts/"+d.account+"/fund", `{"amount":500000}`)
	if err != nil {
		return err
	}
	d.screen.writeFields(funded, "id", "balance.amount@balance.currency.code")
	payee, err := d.client.post(ctx, "/customers/external-accounts", `{"customerId":`+quoted(d.customer)+`,"currency":"EUR",
		"accountInfo":{"accountType":"EUR_ACCOUNT","iban":"DE89370400440532013000","beneficiary":{"beneficiaryType":"INDIVIDUAL",
		"fullName":"David Hilbert","birthDate":"1985-01-23","nationality":"DE","countryOfResidence":"DE"}}}`)
	if err != nil {
		return err
	}
	d.screen.writeFields(payee, "id", "status")
	d.payee, err = payee.requireText("id")
	return err
}

// challengeFields are those of a quote that its payer has to authorise.
var challengeFields = []string{"id", "status", "totalSendingAmount@sendingCurrency.code", "platformFeesIncluded@sendingCurrency.code",
	"totalReceivingAmount@receivingCurrency.code", "scaChallenge.purpose", "scaChallenge.factor", "scaChallenge.expiresAt"}

// quote creates a quote from the account of the customer.
func (d *europeDemo) quote(to, amount, more string) string {
	return `{"source":{"sourceType":"ACCOUNT","accountId":` + quoted(d.account) + `},"destination":{"destinationType":"ACCOUNT","accountId":` +
		quoted(to) + `},"lockedCurrencySide":"SENDING","lockedCurrencyAmount":` + amount + more + `}`
}

func (d *europeDemo) pay(ctx context.Context) error {
	d.screen.beginStep("Pay with a proof", "The payment waits until the customer proves exactly this amount and payee (article 5): the "+
		"exchange first, and then the payout. A wrong proof is refused and counted: the fifth locks the customer.")
	created, err := d.client.post(ctx, "/quotes", d.quote(d.payee, "2500", ""))
	if err != nil {
		return err
	}
	path := "/quotes/" + created.text("id")
	asked, err := d.client.post(ctx, path+"/execute", "")
	if err != nil {
		return err
	}
	d.screen.writeFields(asked, challengeFields...)
	if err := d.client.refused(ctx, path+"/authorize", `{"code":"000000"}`, "INVALID_INPUT"); err != nil {
		return err
	}
	return d.authorize(ctx, path, asked, "PROCESSING", "COMPLETED")
}

// authorize answers every challenge of a quote, after which it has one of the statuses.
func (d *europeDemo) authorize(ctx context.Context, path string, asked apiResponse, statuses ...string) error {
	const most = 3 // challenges
	for range most {
		answered, err := d.client.post(ctx, path+"/authorize", `{"challengeId":`+quoted(asked.text("scaChallenge.id"))+`,"code":"123456"}`)
		if err != nil {
			return err
		}
		d.screen.writeFields(answered, "status", "scaChallenge.purpose")
		for _, status := range statuses {
			if answered.text("status") == status {
				return nil
			}
		}
		asked = answered
	}
	return fmt.Errorf("the quote is %s after %d proofs", asked.text("status"), most)
}

func (d *europeDemo) trust(ctx context.Context) error {
	d.screen.beginStep("Trust the payee", "Where the operator allows that exemption, payments to it need no further proof (article 13): "+
		d.program+" platform set --sca-exemptions TRUSTED_BENEFICIARY.")
	path := "/customers/external-accounts/" + d.payee + "/trust"
	asked, err := d.client.post(ctx, path, "")
	if err != nil {
		return err
	}
	d.screen.writeFields(asked, "scaChallenge.id", "scaChallenge.purpose", "scaChallenge.factor")
	trusted, err := d.client.post(ctx, path+"/confirm", `{"code":"123456"}`)
	if err == nil {
		d.screen.writeFields(trusted, "trusted")
	}
	return err
}

func (d *europeDemo) registerWallet(ctx context.Context) error {
	d.screen.beginStep("Register the customer's own wallet", "Above 1000 euros the law asks whether a wallet is really the customer's: "+
		"Regulation (EU) 2023/1113, article 14(5).")
	var err error
	if d.key, err = secp256k1.GeneratePrivateKey(); err != nil {
		return err
	}
	address, err := ethereum.AddressOf([33]byte(d.key.PubKey().SerializeCompressed()))
	if err != nil {
		return err
	}
	registered, err := d.client.post(ctx, "/customers/external-accounts", `{"customerId":`+quoted(d.customer)+`,"currency":"USDC",
		"ownershipType":"FIRST_PARTY","accountInfo":{"accountType":"ETHEREUM_WALLET","address":`+quoted(ethereum.FormatAddress(address))+`}}`)
	if err != nil {
		return err
	}
	d.screen.writeFields(registered, "id", "status")
	if d.wallet, err = registered.requireText("id"); err != nil {
		return err
	}
	return d.client.refused(ctx, "/quotes", d.quote(d.wallet, "150000", ""), "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED")
}

func (d *europeDemo) proveWallet(ctx context.Context) error {
	d.screen.beginStep("Prove the wallet", "The wallet signs a text (EIP-191). The demo has its key; an app asks the wallet with "+
		"personal_sign.")
	path := "/customers/external-accounts/" + d.wallet
	asked, err := d.client.post(ctx, path+"/challenge", `{"method":"WALLET_SIGNATURE"}`)
	if err != nil {
		return err
	}
	message, err := asked.requireText("messageToSign")
	if err != nil {
		return err
	}
	d.screen.writeText(margin+"  ", message)
	proven, err := d.client.post(ctx, path+"/verify", `{"signature":`+quoted(ethereum.SignMessage(d.key, message))+`}`)
	if err == nil {
		d.screen.writeFields(proven, "id", "status")
	}
	return err
}

func (d *europeDemo) payWallet(ctx context.Context) error {
	d.screen.beginStep("Pay the wallet, with a fee of the platform", "The fee is the platform's income. What the travel rule asks for is "+
		"kept with the payment.")
	created, err := d.client.post(ctx, "/quotes", d.quote(d.wallet, "150000",
		`,"platformFeeOverride":{"platformVariableFeeBps":20,"platformFixedFee":{"amount":50,"currency":"USD"}}`))
	if err != nil {
		return err
	}
	path := "/quotes/" + created.text("id")
	asked, err := d.client.post(ctx, path+"/execute", "")
	if err != nil {
		return err
	}
	d.screen.writeFields(asked, challengeFields...)
	if err := d.authorize(ctx, path, asked, "PROCESSING", "COMPLETED"); err != nil {
		return err
	}
	paid, err := d.client.get(ctx, "/transactions/"+created.text("transactionId"))
	if err == nil {
		d.screen.writeFields(paid, "id", "travelRule.originator.name", "travelRule.beneficiary.name", "travelRule.proofMethod",
			"platformFees@sentAmount.currency.code")
	}
	return err
}

func (d *europeDemo) nameCustodian(ctx context.Context) error {
	d.screen.beginStep("Register a wallet at a custodian", "It is named in place of a proof. GET /vasps lists those that can be named.")
	custodians, err := d.client.get(ctx, "/vasps?limit=3")
	if err != nil {
		return err
	}
	d.screen.writeList(custodians, "data", "vaspName", "url")
	registered, err := d.client.post(ctx, "/customers/external-accounts", `{"customerId":`+quoted(d.customer)+`,"currency":"USDC",
		"ownershipType":"FIRST_PARTY","accountInfo":{"accountType":"ETHEREUM_WALLET","address":"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		"vaspName":`+quoted(custodians.text("data.0.vaspName"))+`}}`)
	if err == nil {
		d.screen.writeFields(registered, "id", "status", "accountInfo.vaspName")
	}
	return err
}
