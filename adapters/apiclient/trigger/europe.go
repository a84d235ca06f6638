package trigger

import "net/url"

// proveWallet registers a wallet of a new customer, and proves its ownership with the test value of a signature.
func (r *run) proveWallet() error {
	customer, err := r.customer("Ana Silva")
	if err != nil {
		return err
	}
	wallet, err := r.post("/customers/external-accounts", object{"customerId": customer, "currency": "USDC", "ownershipType": "FIRST_PARTY",
		"accountInfo": object{"accountType": "ETHEREUM_WALLET", "address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}})
	if err != nil {
		return err
	}
	path := "/customers/external-accounts/" + wallet.text("id")
	if _, err := r.post(path+"/challenge", object{"method": "WALLET_SIGNATURE"}); err != nil {
		return err
	}
	_, err = r.post(path+"/verify", object{"signature": "sandbox-valid-signature"})
	return err
}

// quoteToAuthorize creates a quote of a customer of Germany, who has logged in and has to authorise its payments.
func (r *run) quoteToAuthorize() error {
	created, err := r.post("/customers", object{"platformCustomerId": r.serial, "customerType": "INDIVIDUAL", "region": "DE",
		"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "DE", "address": address, "phoneNumber": "+491701234567"})
	if err != nil {
		return err
	}
	customer := created.text("id")
	if _, err := r.post("/customers/"+customer+"/verify-phone", nil); err != nil {
		return err
	}
	if _, err := r.post("/customers/"+customer+"/verify-phone/confirm", object{"code": "123456"}); err != nil {
		return err
	}
	of := "?customerId=" + url.QueryEscape(customer)
	login, err := r.post("/sca/login/start"+of, object{"factor": "SMS_OTP"})
	if err != nil {
		return err
	}
	if _, err := r.post("/sca/login/complete"+of, object{"factor": "SMS_OTP", "challengeId": login.text("challengeId"), "code": "123456",
		"endUserIpAddress": "203.0.113.7"}); err != nil {
		return err
	}
	_, err = r.quoteOf(customer, "good")
	return err
}
