// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TestToken} from "TestToken.sol";

/// A token that takes authorisations of transfers (EIP-3009), as USDC does.
contract TestAuthorizedToken is TestToken {
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    constructor() TestToken("USDC", 6) {}

    function name() public pure override returns (string memory) {
        return "USD Coin";
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return
            keccak256(
                abi.encode(
                    keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                    keccak256("USD Coin"),
                    keccak256("2"),
                    block.chainid,
                    address(this)
                )
            );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(to == msg.sender, "caller must be the payee");
        bytes32 kind = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        useUp(from, nonce, keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        move(from, to, value, validAfter, validBefore, nonce);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 kind = keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        useUp(from, nonce, keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce)), v, r, s);
        move(from, to, value, validAfter, validBefore, nonce);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        bytes32 kind = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
        useUp(authorizer, nonce, keccak256(abi.encode(kind, authorizer, nonce)), v, r, s);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function useUp(address from, bytes32 nonce, bytes32 message, uint8 v, bytes32 r, bytes32 s) private {
        require(!authorizationState[from][nonce], "authorization is used");
        require(ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), message)), v, r, s) == from, "invalid signature");
        authorizationState[from][nonce] = true;
    }

    function move(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce) private {
        require(block.timestamp > validAfter, "authorization is not yet valid");
        require(block.timestamp < validBefore, "authorization is expired");
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }
}
