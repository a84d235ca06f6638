package trigger

import (
	"net/http"
	"time"

	"causeway/adapters/apiclient"
)

const (
	notRegulated = "a platform that is not regulated: a regulated one verifies its customers itself"
	aPage        = "a page for invitations: set invitationUrl with PATCH /config"
	// neverRefunded is about payments that another provider sends over the Lightning network.
	neverRefunded = "a sandbox has no other provider that pays an invoice with another amount"
	anEndpoint    = "a webhook endpoint: set webhookEndpoint with PATCH /config"
)

// triggers has every event of the service, by its name.
var triggers = map[string]Trigger{
	"OUTGOING_PAYMENT.PENDING": {Does: "creates a quote", run: func(r *run) error { _, err := r.quote("good"); return err }},
	"OUTGOING_PAYMENT.PENDING_AUTHORIZATION": {Does: "creates a quote that its payer has to authorise",
		Needs: "a platform whose customers of Germany authorise their payments", run: (*run).quoteToAuthorize},
	"OUTGOING_PAYMENT.PROCESSING": {Does: "pays a quote", run: paid("good")},
	"OUTGOING_PAYMENT.COMPLETED":  {Does: "pays a quote", run: paid("good")},
	"OUTGOING_PAYMENT.FAILED":     {Does: "pays a quote to an account that its bank refuses", run: paid("004")},
	"OUTGOING_PAYMENT.EXPIRED": {Does: "expires a quote", run: func(r *run) error {
		quote, err := r.quote("good")
		if err == nil {
			_, err = r.post("/sandbox/quotes/"+quote.text("id")+"/expire", nil)
		}
		return err
	}},
	"OUTGOING_PAYMENT.REFUND_PENDING":   {Does: "pays a quote to an account that its bank refuses", run: paid("004")},
	"OUTGOING_PAYMENT.REFUND_COMPLETED": {Does: "pays a quote to an account that its bank refuses", run: paid("004")},
	"OUTGOING_PAYMENT.REFUND_FAILED":    {Does: "pays a quote whose payout and refund fail", run: paid("007")},

	"INCOMING_PAYMENT.PENDING": {Does: "lets another provider pay a customer", Needs: anEndpoint, run: func(r *run) error {
		customer, err := r.customer("Ana Silva")
		if err == nil {
			_, err = r.post("/sandbox/uma/receive", object{"senderUmaAddress": "$bo@bank.example", "customerId": customer,
				"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 1250})
		}
		return err
	}},
	"INCOMING_PAYMENT.COMPLETED": {Does: "funds an internal account", run: func(r *run) error { _, err := r.funded(10_000); return err }},
	"INCOMING_PAYMENT.FAILED": {Does: "pulls money from a bank account without funds", run: func(r *run) error {
		_, err := r.pulled("002")
		return err
	}},

	"INCOMING_PAYMENT.REFUND_PENDING":   {Never: neverRefunded},
	"INCOMING_PAYMENT.REFUND_COMPLETED": {Never: neverRefunded},
	"INCOMING_PAYMENT.REFUND_FAILED":    {Never: neverRefunded},

	"INTERNAL_ACCOUNT.BALANCE_UPDATED": {Does: "funds an internal account", run: func(r *run) error {
		_, err := r.funded(10_000)
		return err
	}},
	"INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED": {Does: "renames a person, in whose name accounts are held",
		run: renamed("Ana Silva", "Ana Lima")},
	"INTERNAL_ACCOUNT.STATUS_UPDATED": {Never: "no operation changes the status of an internal account"},

	"EXTERNAL_ACCOUNT.STATUS_UPDATED": {Does: "proves that a wallet is its customer's", run: (*run).proveWallet},

	"CUSTOMER.KYC_PENDING": {Does: "gives an approved person a name that has to be verified", Needs: notRegulated,
		run: renamed("Ana Silva", "Ana Lima001")},
	"CUSTOMER.KYC_APPROVED": {Does: "verifies a person", Needs: notRegulated, run: (*run).verifyPerson},
	"CUSTOMER.KYC_REJECTED": {Does: "gives an approved person a name that is rejected", Needs: notRegulated,
		run: renamed("Ana Silva", "Ana Lima002")},
	"CUSTOMER.KYB_PENDING": {Does: "changes the name of an approved business", Needs: notRegulated, run: func(r *run) error {
		business, err := r.verifiedBusiness("5523041")
		if err == nil {
			_, err = r.call(http.MethodPatch, "/customers/"+business, object{"customerType": "BUSINESS",
				"businessInfo": object{"legalName": "Acme Holding LLC"}}, "")
		}
		return err
	}},
	"CUSTOMER.KYB_APPROVED": {Does: "verifies a business", Needs: notRegulated, run: verifiedBusiness("5523041")},
	"CUSTOMER.KYB_REJECTED": {Does: "verifies a business that is rejected", Needs: notRegulated, run: verifiedBusiness("5523002")},

	"VERIFICATION.RESOLVE_ERRORS": {Does: "submits a business without documents", Needs: notRegulated, run: func(r *run) error {
		business, err := r.business("5523041")
		if err == nil {
			err = r.submit(business)
		}
		return err
	}},
	"VERIFICATION.READY_FOR_VERIFICATION": {Does: "verifies a business", Needs: notRegulated, run: verifiedBusiness("5523041")},
	"VERIFICATION.IN_PROGRESS":            {Does: "verifies a business", Needs: notRegulated, run: verifiedBusiness("5523041")},
	"VERIFICATION.PENDING_MANUAL_REVIEW": {Does: "verifies a business that a person decides about", Needs: notRegulated,
		run: verifiedBusiness("5523001")},
	"VERIFICATION.APPROVED": {Does: "verifies a business", Needs: notRegulated, run: verifiedBusiness("5523041")},
	"VERIFICATION.REJECTED": {Does: "verifies a business that is rejected", Needs: notRegulated, run: verifiedBusiness("5523002")},

	"BULK_UPLOAD.COMPLETED": {Does: "imports a customer from a CSV file", run: imported("umaAddress,platformCustomerId,customerType," +
		"fullName,birthDate,addressLine1,city,state,postalCode,country\n" +
		",SERIAL,INDIVIDUAL,Maya Lind,1988-11-02,8 Elm Street,Austin,TX,78701,US\n")},
	"BULK_UPLOAD.FAILED": {Does: "imports a CSV file without the columns that are required", run: imported("fullName\nMaya Lind\n")},

	"INVITATION.CLAIMED": {Does: "lets a customer claim the invitation of another one", Needs: aPage,
		run: (*run).claimInvitation},

	"AGENT_ACTION.PENDING_APPROVAL": {Does: "lets an agent ask for a payment that needs approval", run: (*run).askAsAgent},

	"SAFEGUARDING.SHORTFALL": {Does: "books a fee on yesterday and makes its report again", run: func(r *run) error {
		yesterday := time.Now().UTC().AddDate(0, 0, -1)
		_, err := r.post("/ledger/adjustments", object{"note": "Trigger of SAFEGUARDING.SHORTFALL",
			"effectiveAt": yesterday.Format(time.RFC3339), "entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE",
				"currency": "USD", "amount": 100}}})
		if err == nil {
			_, err = r.post("/ledger/safeguarding/"+yesterday.Format(time.DateOnly)+"/run", nil)
		}
		return err
	}},

	"LEDGER.ASSET_OVERDRAWN": {Does: "moves money that is not there between own accounts", run: (*run).overdraw},
	"LEDGER.ASSET_COVERED": {Never: "an account is announced at most once an hour, so this follows LEDGER.ASSET_OVERDRAWN an hour " +
		"later at the earliest"},

	"LEDGER_PROPOSAL.PENDING": {Does: "makes adjustments need four eyes for a moment, and proposes one", run: func(r *run) error {
		return r.propose(func(*apiclient.Client, string) error { return nil })
	}},
	"LEDGER_PROPOSAL.EXECUTED": {Does: "makes adjustments need four eyes for a moment, and approves one with a second token",
		run: func(r *run) error {
			return r.propose(func(second *apiclient.Client, proposal string) error {
				_, err := r.callAs(second, http.MethodPost, "/ledger/proposals/"+proposal+"/approve", nil, "")
				return err
			})
		}},
	"LEDGER_PROPOSAL.REJECTED": {Does: "makes adjustments need four eyes for a moment, and rejects one", run: func(r *run) error {
		return r.propose(func(second *apiclient.Client, proposal string) error {
			_, err := r.callAs(second, http.MethodPost, "/ledger/proposals/"+proposal+"/reject", object{"note": "Trigger"}, "")
			return err
		})
	}},

	"UMA_INVOICE.RECEIVED": {Does: "lets a customer ask another one for money", run: (*run).askForMoney},
	"UMA_INVOICE.REFUSED":  {Never: "a sandbox sends no invoices to other providers"},

	"RECEIVABLE.OPENED": {Does: "takes a collection back", run: func(r *run) error { _, err := r.owed(); return err }},
	"RECEIVABLE.COLLECTED": {Does: "takes a collection back whose money is still there", run: func(r *run) error {
		transfer, err := r.pulled("good")
		if err == nil {
			err = r.takeBack(transfer)
		}
		return err
	}},
	"RECEIVABLE.WRITTEN_OFF": {Does: "takes a collection back, and writes off what the customer owes", run: func(r *run) error {
		receivable, err := r.owed()
		if err == nil {
			_, err = r.post("/ledger/receivables/"+receivable+"/write-off", object{"note": "Trigger"})
		}
		return err
	}},

	"TEST": {Does: "sends a test webhook", Needs: anEndpoint, run: func(r *run) error {
		_, err := r.post("/sandbox/webhooks/test", nil)
		return err
	}},
}
