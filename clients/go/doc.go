// Package causeway calls the API of Causeway, a payments service: every operation with types, safe retries, pages, errors
// and webhooks.
//
// Package api is generated from the description of the API. A Client has its methods, such as CreateQuoteWithResponse.
// A method returns an error unless the service answers with a success: *Error if it refuses the request, and
// *ConnectionError if no response arrived. The field of the response that is set has the status in its name, such as
// JSON201; most operations have one.
//
// Amounts are int64, in the smallest unit of their currency. Rates are json.Number with all their digits. Sums of the ledger
// are big.Int.
package causeway
