package sandbox

import (
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
)

// unknownAccountSuffix is the end of an identifier that no bank knows.
const unknownAccountSuffix = "105"

var beneficiaryOutcomes = map[string]account.VerificationStatus{
	"102": account.NotMatched,
	"103": account.PartialMatch,
	"104": account.VerificationPending,
	"106": account.Unsupported,
	"107": account.CheckedByReceivingFI,
}

// BeneficiaryOutcome returns what the receiving side says of the beneficiary's name; the
// fault INVALID_BANK_ACCOUNT when it knows no such account.
func BeneficiaryOutcome(identifier string) (account.VerificationStatus, error) {
	end := suffix(identifier)
	if end == unknownAccountSuffix {
		return account.NotVerified, fault.New(fault.InvalidBankAccount,
			"The receiving side knows no such account; check the account details and register it again.")
	}
	if status, ok := beneficiaryOutcomes[end]; ok {
		return status, nil
	}
	return account.Matched, nil
}

var decisions = map[string]customer.Status{
	"001": customer.Pending,
	"002": customer.Rejected,
}

// KYBDecision returns the decision on a business, by its registration number.
func KYBDecision(registrationNumber string) customer.Status { return decide(registrationNumber) }

// KYCDecision returns the decision on a person, by the last name.
func KYCDecision(lastName string) customer.Status { return decide(lastName) }

func decide(value string) customer.Status {
	if status, ok := decisions[lastDigits(value)]; ok {
		return status
	}
	return customer.Approved
}
