package transaction

import "strings"

// Refusal is what a partner's code means for the payment about which it was given.
type Refusal struct {
	// Reason is that of a transaction that fails with it.
	Reason FailureReason
	// Temporary: the cause passes, or the partner may have made the payment already. It is called about again, and
	// never refunded.
	Temporary bool
	// Meaning is the name of the code; empty for one that is not known, which is a refusal for good.
	Meaning string
}

// PayoutRefusal returns what a code means for a payout or a refund: our own account pays.
func PayoutRefusal(code string) Refusal { return refusal(code, CounterpartyPostFailed, ourAccount) }

// CollectionRefusal returns what a code means for a collection: the account of the payer pays.
func CollectionRefusal(code string) Refusal {
	return refusal(code, QuoteExecutionFailed, passes)
}

func refusal(code string, reason FailureReason, temporary codeClass) Refusal {
	known := partnerCodes[codeKey(code)]
	if specific, found := codeReasons[codeKey(code)]; found && (temporary == ourAccount || specific == ComplianceRejected) {
		reason = specific
	}
	return Refusal{Reason: reason, Temporary: known.class != final && known.class <= temporary, Meaning: known.meaning}
}

// codeClass says when a code is temporary.
type codeClass int

const (
	final codeClass = iota
	// passes: the partner, a system between or the receiving bank is closed or busy, or the code is about a payment that
	// was sent before, so that it says nothing about this one.
	passes
	// ourAccount: the account that pays cannot for now. It is ours if the payment is a payout.
	ourAccount
)

// codeReasons are the reasons of payments that end with a code; with all other codes they have that of the step. Those about an
// account or an amount are about the one that receives, so collections have only the last of them.
var codeReasons = func() map[string]FailureReason {
	reasons := map[string]FailureReason{rateUnavailable: QuoteRateUnavailable}
	for reason, codes := range map[FailureReason]string{
		AccountInvalid:       "AC01 AC03 AC04 AC07 AGNT BE06 CNOR RC01 RC04 RC07 R02 R03 R04 R12 R13 R28 R42 R43",
		AccountCannotReceive: "AC06 AC14 AG01 AG03 AG11 MD07 R14 R15 R16 R20 R23",
		LimitExceeded:        "AM02 AM13 AM14",
		ComplianceRejected:   "FR01 FRAD RR04",
	} {
		for code := range strings.FieldsSeq(codes) {
			reasons[code] = reason
		}
	}
	return reasons
}()

// rateUnavailable is the code of partners that convert what they pay out, and have no rate.
const rateUnavailable = "RATE_UNAVAILABLE"

type partnerCode struct {
	meaning string
	class   codeClass
}

// partnerCodes are codes of two lists: the external status reason codes of ISO 20022 (ExternalStatusReason1Code of its
// External Code Sets), which are also those of returns, and the return reason codes of the Nacha Operating Rules
// (Appendix Four). After a return of Nacha the entry has ended, whatever the cause; R61 to R77 are about a
// return and not about the entry.
var partnerCodes = map[string]partnerCode{
	"AB01": {"AbortedClearingTimeout", passes}, "AB02": {"AbortedClearingFatalError", passes},
	"AB03": {"AbortedSettlementTimeout", passes}, "AB04": {"AbortedSettlementFatalError", passes},
	"AB05": {"TimeoutCreditorAgent", passes}, "AB06": {"TimeoutInstructedAgent", passes},
	"AB07": {"OfflineAgent", passes}, "AB08": {"OfflineCreditorAgent", passes},
	"AB09": {"ErrorCreditorAgent", passes}, "AB10": {"ErrorInstructedAgent", passes},
	"AC01": {"IncorrectAccountNumber", final}, "AC02": {"InvalidDebtorAccountNumber", final}, "AC03": {"InvalidCreditorAccountNumber", final},
	"AC04": {"ClosedAccountNumber", final}, "AC05": {"ClosedDebtorAccountNumber", final}, "AC06": {"BlockedAccount", final},
	"AC07": {"ClosedCreditorAccountNumber", final}, "AC13": {"InvalidDebtorAccountType", final}, "AC14": {"InvalidCreditorAccountType", final},
	"AG01": {"TransactionForbidden", final}, "AG02": {"InvalidBankOperationCode", final}, "AG03": {"TransactionNotSupported", final},
	"AG10": {"AgentSuspended", final}, "AG11": {"CreditorAgentSuspended", final}, "AGNT": {"IncorrectAgent", final},
	"AM01": {"ZeroAmount", final}, "AM02": {"NotAllowedAmount", final}, "AM03": {"NotAllowedCurrency", final},
	"AM04": {"InsufficientFunds", ourAccount}, "AM05": {"Duplication", passes}, "AM06": {"TooLowAmount", final},
	"AM07": {"BlockedAmount", ourAccount}, "AM09": {"WrongAmount", final}, "AM11": {"InvalidTransactionCurrency", final},
	"AM12": {"InvalidAmount", final}, "AM13": {"AmountExceedsClearingSystemLimit", final}, "AM14": {"AmountExceedsAgreedLimit", final},
	"AM15": {"AmountBelowClearingSystemMinimum", final}, "AM21": {"LimitExceeded", ourAccount},
	"AM23": {"AmountExceedsSettlementLimit", ourAccount},
	"BE01": {"InconsistentWithEndCustomer", final}, "BE04": {"MissingCreditorAddress", final}, "BE05": {"UnrecognisedInitiatingParty", final},
	"BE06": {"UnknownEndCustomer", final}, "BE07": {"MissingDebtorAddress", final},
	"CNOR": {"CreditorBankIsNotRegistered", final}, "CURR": {"IncorrectCurrency", final}, "CUST": {"RequestedByCustomer", final},
	"DNOR": {"DebtorBankIsNotRegistered", final}, "DT01": {"InvalidDate", final},
	"ED01": {"CorrespondentBankNotPossible", final}, "ED05": {"SettlementFailed", passes}, "ED06": {"SettlementSystemNotAvailable", passes},
	"FF01": {"InvalidFileFormat", final}, "FOCR": {"FollowingCancellationRequest", final}, "FR01": {"Fraud", final},
	"MD01": {"NoMandate", final}, "MD02": {"MissingMandatoryInformationInMandate", final}, "MD06": {"RefundRequestByEndCustomer", final},
	"MD07": {"EndCustomerDeceased", final}, "MS02": {"NotSpecifiedReasonCustomerGenerated", final},
	"MS03": {"NotSpecifiedReasonAgentGenerated", final}, "NARR": {"Narrative", final}, "NOAS": {"NoAnswerFromCustomer", final},
	"RC01": {"BankIdentifierIncorrect", final}, "RC03": {"InvalidDebtorBankIdentifier", final},
	"RC04": {"InvalidCreditorBankIdentifier", final},
	"RC07": {"InvalidCreditorBICIdentifier", final}, "RF01": {"NotUniqueTransactionReference", passes},
	"RR01": {"MissingDebtorAccountOrIdentification", final}, "RR02": {"MissingDebtorNameOrAddress", final},
	"RR03": {"MissingCreditorNameOrAddress", final}, "RR04": {"RegulatoryReason", final},
	"SL01": {"SpecificServiceOfferedByDebtorAgent", final}, "SL02": {"SpecificServiceOfferedByCreditorAgent", final},
	"TM01":          {"InvalidCutOffTime", passes},
	rateUnavailable: {"No rate for the conversion", final},

	"R01": {"Insufficient Funds", final}, "R02": {"Account Closed", final}, "R03": {"No Account/Unable to Locate Account", final},
	"R04": {"Invalid Account Number Structure", final}, "R05": {"Unauthorized Debit to Consumer Account Using Corporate SEC Code", final},
	"R06": {"Returned per ODFI's Request", final}, "R07": {"Authorization Revoked by Customer", final}, "R08": {"Payment Stopped", final},
	"R09": {"Uncollected Funds", final}, "R10": {"Customer Advises Originator is Not Known or Not Authorized to Debit", final},
	"R11": {"Customer Advises Entry Not in Accordance with the Terms of the Authorization", final},
	"R12": {"Account Sold to Another DFI", final}, "R13": {"Invalid ACH Routing Number", final},
	"R14": {"Representative Payee Deceased or Unable to Continue", final}, "R15": {"Beneficiary or Account Holder Deceased", final},
	"R16": {"Account Frozen/Entry Returned per OFAC Instruction", final}, "R17": {"File Record Edit Criteria", final},
	"R18": {"Improper Effective Entry Date", final}, "R19": {"Amount Field Error", final}, "R20": {"Non-Transaction Account", final},
	"R21": {"Invalid Company Identification", final}, "R22": {"Invalid Individual ID Number", final}, "R23": {"Credit Entry Refused by " +
		"Receiver", final},
	"R24": {"Duplicate Entry", final}, "R25": {"Addenda Error", final}, "R26": {"Mandatory Field Error", final},
	"R27": {"Trace Number Error", final},
	"R28": {"Routing Number Check Digit Error", final}, "R29": {"Corporate Customer Advises Not Authorized", final},
	"R30": {"RDFI Not Participant in Check Truncation Program", final}, "R31": {"Permissible Return Entry", final},
	"R32": {"RDFI Non-Settlement", final},
	"R33": {"Return of XCK Entry", final}, "R34": {"Limited Participation DFI", final}, "R35": {"Return of Improper Debit Entry", final},
	"R36": {"Return of Improper Credit Entry", final}, "R37": {"Source Document Presented for Payment", final},
	"R38": {"Stop Payment on Source Document", final}, "R39": {"Improper Source Document", final},
	"R40": {"Return of ENR Entry by Federal Government Agency", final}, "R41": {"Invalid Transaction Code", final},
	"R42": {"Routing Number/Check Digit Error", final}, "R43": {"Invalid DFI Account Number", final},
	"R44": {"Invalid Individual ID Number", final},
	"R45": {"Invalid Individual Name/Company Name", final}, "R46": {"Invalid Representative Payee Indicator", final},
	"R47": {"Duplicate Enrollment", final},
	"R50": {"State Law Affecting RCK Acceptance", final}, "R51": {"Item Related to RCK Entry is Ineligible", final},
	"R52": {"Stop Payment on Item Related to RCK Entry", final}, "R53": {"Item and RCK Entry Presented for Payment", final},
	"R61": {"Misrouted Return", passes}, "R62": {"Return of Erroneous or Reversing Debit", passes}, "R67": {"Duplicate Return", passes},
	"R68": {"Untimely Return", passes}, "R69": {"Field Error", passes}, "R70": {"Permissible Return Entry Not Accepted", passes},
	"R71": {"Misrouted Dishonored Return", passes}, "R72": {"Untimely Dishonored Return", passes}, "R73": {"Timely Original Return", passes},
	"R74": {"Corrected Return", passes}, "R75": {"Return Not a Duplicate", passes}, "R76": {"No Errors Found", passes},
	"R77": {"Non-Acceptance of R62 Dishonored Return", passes},
	"R80": {"IAT Entry Coding Error", final}, "R81": {"Non-Participant in IAT Program", final},
	"R82": {"Invalid Foreign Receiving DFI Identification", final}, "R83": {"Foreign Receiving DFI Unable to Settle", final},
	"R84": {"Entry Not Processed by Gateway", final}, "R85": {"Incorrectly Coded Outbound International Payment", final},
}

// The maximum lengths of what a partner says about a payment, in bytes.
const (
	MaxPartnerCode = 40
	MaxPartnerText = 500
)
