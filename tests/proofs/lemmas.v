(* SPDX-License-Identifier: GPL-3.0-or-later *)
(* The lemmas of docs/proofs.md, for Coq's kernel to check. Each stands in the page beside the rule that uses it, by the
   name that it has here. Codes, slopes, shifts and offsets are integers, as there; X is q - zp_x, or q - a. Nothing is
   assumed: check_lemmas.sh refuses axioms, and proofs that are left out. *)
From Coq Require Import ZArith Lia Ring List.
Open Scope Z_scope.

(* ---- Shifts that round ---- *)

Inductive rounding := floor | half_up | half_away | half_even.

(* shr(p, n) of docs/meaning.md, where it has floor((p + a) / 2^n) with an `a` for each rounding. *)
Definition addend (r : rounding) (p n : Z) :=
  let half := 2 ^ (n - 1) in
  match r with
  | floor => 0
  | half_up => half
  | half_away => if 0 <=? p then half else half - 1
  | half_even => if Z.odd (p / 2 ^ n) then half else half - 1
  end.

Definition shr r p n := if n <=? 0 then p * 2 ^ (- n) else (p + addend r p n) / 2 ^ n.

(* P(u) of the page. *)
Definition least_product (r : rounding) (n u : Z) :=
  if n <=? 0 then - (- u / 2 ^ (- n))
  else
    let h := 2 ^ (n - 1) in
    match r with
    | floor => u * 2 ^ n
    | half_up => u * 2 ^ n - h
    | half_away => u * 2 ^ n - h + (if u <=? 0 then 1 else 0)
    | half_even => u * 2 ^ n - h + (if Z.odd u then 1 else 0)
    end.

Lemma power_positive n : 0 < 2 ^ n \/ n < 0.
Proof. destruct (Z.lt_ge_cases n 0); [lia | left; apply Z.pow_pos_nonneg; lia]. Qed.

Lemma power_half n : 0 < n -> 2 ^ n = 2 * 2 ^ (n - 1) /\ 0 < 2 ^ (n - 1).
Proof.
  intros. split; [| apply Z.pow_pos_nonneg; lia].
  rewrite <- Z.pow_succ_r by lia. f_equal. lia.
Qed.

Lemma below_quotient d a u : 0 < d -> u <= a / d <-> u * d <= a.
Proof. intros. pose proof (Z.div_mod a d). pose proof (Z.mod_pos_bound a d). nia. Qed.

(* The table of P(u): the products whose shifted value is at least u. *)
Theorem least_product_correct r n u p : u <= shr r p n <-> least_product r n u <= p.
Proof.
  unfold shr, least_product. destruct (Z.leb_spec n 0) as [left | right].
  - destruct (power_positive (- n)) as [d | ?]; [| lia].
    pose proof (below_quotient (2 ^ - n) (- p) (- u) d).
    pose proof (Z.div_mod (- u) (2 ^ - n)). pose proof (Z.mod_pos_bound (- u) (2 ^ - n)). nia.
  - destruct (power_half n right) as [even half]. unfold addend.
    rewrite below_quotient by lia. set (d := 2 ^ n) in *. set (h := 2 ^ (n - 1)) in *. clearbody h.
    destruct r; [lia | lia | |].
    + destruct (Z.leb_spec 0 p), (Z.leb_spec u 0); nia.
    + pose proof (Z.div_mod p d). pose proof (Z.mod_pos_bound p d). clearbody d.
      set (q := p / d) in *. set (m := p mod d) in *. clearbody q m.
      assert (u <= q \/ u = q + 1 \/ q + 2 <= u) as [before | [at_next | behind]] by lia.
      * destruct (Z.odd q), (Z.odd u); nia.
      * subst u. replace (q + 1) with (Z.succ q) by lia. rewrite Z.odd_succ, <- Z.negb_odd.
        destruct (Z.odd q); cbn [negb]; nia.
      * destruct (Z.odd q), (Z.odd u); nia.
Qed.

Theorem most_product_correct r n u p : shr r p n <= u <-> p <= least_product r n (u + 1) - 1.
Proof. pose proof (least_product_correct r n (u + 1) p). lia. Qed.

Theorem shr_monotone r n p p' : p <= p' -> shr r p n <= shr r p' n.
Proof. intros. apply least_product_correct. transitivity p; [apply least_product_correct |]; lia. Qed.

(* The floor of a line in a band: what it says of the line p * 2^-n itself. *)
Theorem floor_in_band n p low high :
  0 < n -> low <= shr floor p n <= high <-> low * 2 ^ n <= p < (high + 1) * 2 ^ n.
Proof.
  intros right. rewrite least_product_correct, most_product_correct. unfold least_product.
  destruct (Z.leb_spec n 0); lia.
Qed.

(* ---- Bands: a value may lie beyond a limit of the outputs, since it is clipped ---- *)

Definition clip (qmin qmax v : Z) := Z.max qmin (Z.min qmax v).

Theorem band_of_outputs qmin qmax low high v :
  qmin <= qmax -> low <= qmax -> qmin <= high ->
  low <= clip qmin qmax v <= high <-> (qmin < low -> low <= v) /\ (high < qmax -> v <= high).
Proof. unfold clip. lia. Qed.

(* ---- Lines, and the offsets with which they serve ---- *)

Inductive form := absolute | biased. (* Anchored lines are absolute ones whose X counts from their start. *)

Definition value (f : form) r q_b n c X :=
  match f with absolute => shr r (q_b * X) n + c | biased => shr r (q_b * X + c) n end.

Definition least (f : form) r q_b n X low :=
  match f with absolute => low - shr r (q_b * X) n | biased => least_product r n low - q_b * X end.

Definition most (f : form) r q_b n X high :=
  match f with absolute => high - shr r (q_b * X) n | biased => least_product r n (high + 1) - 1 - q_b * X end.

(* The offsets that serve at one code are an interval. *)
Theorem offsets_of_code f r q_b n c X low high :
  low <= value f r q_b n c X <= high <-> least f r q_b n X low <= c <= most f r q_b n X high.
Proof.
  destruct f; unfold value, least, most; [lia |].
  rewrite least_product_correct, most_product_correct. lia.
Qed.

(* The line's value is at least low at X, and at most high at X'. *)
Definition serves_two f r q_b n c X low X' high := low <= value f r q_b n c X /\ value f r q_b n c X' <= high.

Theorem two_codes_exclude f r q_b n X low X' high :
  most f r q_b n X' high < least f r q_b n X low -> forall c, ~ serves_two f r q_b n c X low X' high.
Proof.
  intros apart c [above below].
  pose proof (offsets_of_code f r q_b n c X low (value f r q_b n c X)).
  pose proof (offsets_of_code f r q_b n c X' (value f r q_b n c X') high). lia.
Qed.

(* ---- Long runs ---- *)

(* Of each bound on offsets: between two slopes it is between its values for both. *)
Definition is_between (bound : Z -> Z) :=
  forall u q_b w, u <= q_b <= w ->
    Z.min (bound u) (bound w) <= bound q_b <= Z.max (bound u) (bound w).

Lemma shifted_products_between r n X : is_between (fun q_b => shr r (q_b * X) n).
Proof.
  intros u q_b w inside. cbv beta.
  assert (u * X <= q_b * X <= w * X \/ w * X <= q_b * X <= u * X) as [[A B] | [A B]]
    by (destruct (Z.le_gt_cases 0 X); nia);
    apply (shr_monotone r n) in A, B; lia.
Qed.

Theorem least_between f r n X low : is_between (fun q_b => least f r q_b n X low).
Proof.
  intros u q_b w inside. pose proof (shifted_products_between r n X u q_b w inside). cbv beta in *.
  destruct f; unfold least; [lia | destruct (Z.le_gt_cases 0 X); nia].
Qed.

Theorem most_between f r n X high : is_between (fun q_b => most f r q_b n X high).
Proof.
  intros u q_b w inside. pose proof (shifted_products_between r n X u q_b w inside). cbv beta in *.
  destruct f; unfold most; [lia | destruct (Z.le_gt_cases 0 X); nia].
Qed.

(* What types allow at an end of the range: `limit - p` in the biased form, `limit - shr(p, n)` in the others. *)
Theorem type_limits_between r n X limit :
  is_between (fun q_b => limit - q_b * X) /\ is_between (fun q_b => limit - shr r (q_b * X) n).
Proof.
  split; intros u q_b w inside; cbv beta; [destruct (Z.le_gt_cases 0 X); nia |].
  pose proof (shifted_products_between r n X u q_b w inside). cbv beta in *. lia.
Qed.

(* A run of slopes from u to w is excluded by what two bounds are for u and w, whichever bounds these are: of codes, or
   of types. *)
Theorem run_excludes (lower upper : Z -> Z) u w :
  is_between lower -> is_between upper ->
  Z.max (upper u) (upper w) < Z.min (lower u) (lower w) ->
  forall q_b c, u <= q_b <= w -> ~ (lower q_b <= c <= upper q_b).
Proof. intros L U apart q_b c inside. specialize (L u q_b w inside). specialize (U u q_b w inside). lia. Qed.

(* ---- The window ---- *)

Lemma shifted_differ r n p p' :
  (shr r p n - shr r p' n - 1) * 2 ^ Z.max n 0 <= (p - p') * 2 ^ Z.max (- n) 0.
Proof.
  destruct (Z.le_gt_cases n 0) as [left | right].
  - unfold shr. destruct (Z.leb_spec n 0); [| lia].
    rewrite (Z.max_r n 0), (Z.max_l (- n) 0) by lia. lia.
  - rewrite (Z.max_l n 0), (Z.max_r (- n) 0) by lia. destruct (power_half n right).
    pose proof (proj1 (least_product_correct r n (shr r p n) p) (Z.le_refl _)) as above.
    pose proof (proj1 (most_product_correct r n (shr r p' n) p') (Z.le_refl _)) as below.
    revert above below. unfold least_product. destruct (Z.leb_spec n 0); [lia |].
    generalize (shr r p n), (shr r p' n). intros v v'.
    destruct r; [| | destruct (Z.leb_spec v 0), (Z.leb_spec (v' + 1) 0)
      | destruct (Z.odd v), (Z.odd (v' + 1))]; nia.
Qed.

(* A pair of the window: s (i - j) >= low - high - 1 with s = q_b * 2^-n and X - X' = i - j; both sides times 2^n where
   n > 0. *)
Theorem window_pair f r q_b n c X low X' high :
  serves_two f r q_b n c X low X' high ->
  (low - high - 1) * 2 ^ Z.max n 0 <= q_b * (X - X') * 2 ^ Z.max (- n) 0.
Proof.
  intros [above below]. assert (0 < 2 ^ Z.max n 0) by (apply Z.pow_pos_nonneg; lia).
  destruct f; unfold value in *;
    [pose proof (shifted_differ r n (q_b * X) (q_b * X'))
    | pose proof (shifted_differ r n (q_b * X + c) (q_b * X' + c))];
    nia.
Qed.

(* ---- What the types allow: H = 2^(A-1) ---- *)

Definition fits H v := - H <= v <= H - 1.

(* What a product or sum p may be in the arithmetic before and behind its shift. *)
Definition shift_fits H r p n :=
  fits H p /\ fits H (shr r p n) /\
  (0 < n -> match r with
            | floor => True
            | half_away => fits H (Z.abs p + 2 ^ (n - 1))
            | half_up | half_even => fits H (p + 2 ^ (n - 1))
            end).

Definition lo H r n :=
  if n <? 0 then - (H / 2 ^ (- n))
  else if n =? 0 then - H
  else match r with half_away => 2 ^ (n - 1) - H + 1 | _ => - H end.

Definition hi H r n :=
  if n <? 0 then (H - 1) / 2 ^ (- n)
  else if n =? 0 then H - 1
  else match r with floor => H - 1 | _ => H - 1 - 2 ^ (n - 1) end.

Theorem types_allow H r n p : 0 < H -> shift_fits H r p n <-> lo H r n <= p <= hi H r n.
Proof.
  intros some. unfold shift_fits, fits, lo, hi.
  destruct (Z.ltb_spec n 0) as [left | right]; [| destruct (Z.eqb_spec n 0) as [none | shifted]].
  - unfold shr. destruct (Z.leb_spec n 0); [| lia]. destruct (power_positive (- n)) as [d |]; [| lia].
    set (k := 2 ^ - n) in *. clearbody k. pose proof (below_quotient k H (- p) d).
    pose proof (below_quotient k (H - 1) p d). split; [lia |]. intros. repeat split; nia.
  - subst n. unfold shr. cbn [Z.leb Z.compare]. change (2 ^ - 0) with 1. lia.
  - assert (0 < n) as positive by lia. destruct (power_half n positive) as [d h].
    assert (- H <= p <= H - 1 -> - H <= shr r p n <= H - 1) as shrinks.
    { intros. rewrite least_product_correct, most_product_correct. unfold least_product.
      destruct (Z.leb_spec n 0); [lia |]. rewrite d. set (k := 2 ^ (n - 1)) in *. clearbody k.
      destruct r; [nia | nia | destruct (Z.leb_spec (- H) 0), (Z.leb_spec (H - 1 + 1) 0)
        | destruct (Z.odd (- H)), (Z.odd (H - 1 + 1))]; nia. }
    destruct r; lia.
Qed.

(* The ends of a segment bound its products, and so their shifted values (shr_monotone). *)
Theorem ends_bound q_b X first last :
  first <= X <= last -> Z.min (q_b * first) (q_b * last) <= q_b * X <= Z.max (q_b * first) (q_b * last).
Proof. intros. destruct (Z.le_gt_cases 0 q_b); nia. Qed.

(* ---- Slopes that reduce ---- *)

Lemma same_by_bounds v v' : (forall u, u <= v <-> u <= v') -> v = v'.
Proof. intros same. pose proof (proj1 (same v) (Z.le_refl _)). pose proof (proj2 (same v') (Z.le_refl _)). lia. Qed.

Lemma power_twice n : 1 < n -> 2 ^ n = 2 * 2 ^ (n - 1) /\ 2 ^ (n - 1) = 2 * 2 ^ (n - 1 - 1).
Proof. intros. pose proof (power_half n). pose proof (power_half (n - 1)). lia. Qed.

Theorem even_product_reduces r p n : shr r (2 * p) n = shr r p (n - 1).
Proof.
  destruct (Z.le_gt_cases n 0) as [left | right].
  - unfold shr. destruct (Z.leb_spec n 0), (Z.leb_spec (n - 1) 0); try lia.
    replace (- (n - 1)) with (Z.succ (- n)) by lia. rewrite Z.pow_succ_r by lia. lia.
  - apply same_by_bounds. intros u. rewrite !least_product_correct. unfold least_product.
    destruct (Z.leb_spec n 0); [lia |]. destruct (Z.leb_spec (n - 1) 0).
    + replace n with 1 by lia. change (- (1 - 1)) with 0. change (2 ^ (1 - 1)) with 1. change (2 ^ 1) with 2.
      change (2 ^ 0) with 1. rewrite Z.div_1_r. destruct r, (u <=? 0), (Z.odd u); lia.
    + destruct (power_twice n) as [d h]; [lia |]. rewrite d, h. destruct r, (u <=? 0), (Z.odd u); nia.
Qed.

(* In the biased form the constant is halved, too, rounded as these roundings need it. *)
Definition halved r n c := match r with half_up => if n =? 1 then (c + 1) / 2 else c / 2 | _ => c / 2 end.

Theorem biased_slope_reduces r p n c :
  0 < n -> r = floor \/ r = half_up -> shr r (2 * p + c) n = shr r (p + halved r n c) (n - 1).
Proof.
  intros right kind. apply same_by_bounds. intros u. rewrite !least_product_correct. unfold least_product, halved.
  destruct (Z.leb_spec n 0); [lia |]. pose proof (Z.div_mod c 2). pose proof (Z.mod_pos_bound c 2).
  pose proof (Z.div_mod (c + 1) 2). pose proof (Z.mod_pos_bound (c + 1) 2).
  destruct (Z.leb_spec (n - 1) 0); destruct (Z.eqb_spec n 1); try lia.
  - subst n. change (- (1 - 1)) with 0. change (2 ^ (1 - 1)) with 1. change (2 ^ 1) with 2. change (2 ^ 0) with 1.
    rewrite Z.div_1_r. destruct kind; subst r; lia.
  - destruct (power_twice n) as [d h]; [lia |]. rewrite d, h. destruct kind; subst r; nia.
Qed.

Theorem even_slope_fits H r p n : 0 < H -> shift_fits H r (2 * p) n -> shift_fits H r p (n - 1).
Proof.
  intros some. unfold shift_fits. rewrite even_product_reduces. unfold fits. intros (product & shifted & rounded).
  repeat split; try lia. intros more. destruct (power_twice n) as [_ h]; [lia |]. destruct r; lia.
Qed.

Theorem biased_slope_fits H r p n c :
  0 < H -> 0 < n -> r = floor \/ r = half_up -> fits H (2 * p) -> shift_fits H r (2 * p + c) n ->
  fits H p /\ shift_fits H r (p + halved r n c) (n - 1).
Proof.
  intros some right kind. unfold shift_fits. rewrite (biased_slope_reduces r p n c right kind).
  unfold fits, halved. intros product (sum & shifted & rounded).
  pose proof (Z.div_mod c 2). pose proof (Z.mod_pos_bound c 2).
  pose proof (Z.div_mod (c + 1) 2). pose proof (Z.mod_pos_bound (c + 1) 2).
  destruct kind; subst r; [repeat split; lia |].
  specialize (rounded right). destruct (Z.eqb_spec n 1).
  - subst n. change (2 ^ (1 - 1)) with 1 in *. repeat split; lia.
  - destruct (power_twice n) as [_ h]; [lia |]. repeat split; lia.
Qed.

(* Whatever interval holds 0 and c, as every one of slopes and offsets does, holds c halved. *)
Theorem halved_inside r n c low high : low <= 0 <= high -> low <= c <= high -> low <= halved r n c <= high.
Proof.
  intros. unfold halved. pose proof (Z.div_mod c 2). pose proof (Z.mod_pos_bound c 2).
  pose proof (Z.div_mod (c + 1) 2). pose proof (Z.mod_pos_bound (c + 1) 2).
  destruct r; try destruct (n =? 1); lia.
Qed.

(* The terms of a slope: 0, or one power of two with a sign; half a sum of two such terms is one, too. *)
Definition is_term t := t = 0 \/ exists k, 0 <= k /\ (t = 2 ^ k \/ t = - 2 ^ k).

Lemma term_halves t : is_term t -> t = 1 \/ t = - 1 \/ exists t', is_term t' /\ t = 2 * t'.
Proof.
  intros [-> | (k & positive & kind)]; [right; right; exists 0; split; [left | ]; lia |].
  destruct (Z.eq_dec k 0) as [-> | more]; [change (2 ^ 0) with 1 in kind; lia |].
  pose proof (power_half k). right; right.
  destruct kind; subst t; [exists (2 ^ (k - 1)) | exists (- 2 ^ (k - 1))]; (split; [right; exists (k - 1) |]; lia).
Qed.

Theorem halved_terms q t t' :
  is_term t -> is_term t' -> 2 * q = t + t' -> exists u u', is_term u /\ is_term u' /\ q = u + u'.
Proof.
  intros first second sum. assert (is_term 0) as none by (left; lia).
  assert (is_term 1) as one by (right; exists 0; cbn; lia).
  assert (is_term (- 1)) as less by (right; exists 0; cbn; lia).
  destruct (term_halves t first) as [A | [A | (u & u_term & A)]];
    destruct (term_halves t' second) as [B | [B | (u' & u'_term & B)]]; try lia;
    [exists 1, 0 | exists 0, 0 | exists 0, 0 | exists (- 1), 0 | exists u, u']; repeat split; auto; lia.
Qed.

(* Slopes that reduce can be left out of the list: where the line of one serves, that of a slope which does not reduce
   does, and is the same real slope. "halves" is what the theorems above show of a form and a rounding. *)
Theorem list_is_enough (allowed : Z -> Z -> bool) (serves : Z -> Z -> Z -> Prop) lowest :
  (forall q_b n c, lowest < n -> serves (2 * q_b) n c -> allowed q_b (n - 1) = true ->
    exists c', serves q_b (n - 1) c') ->
  forall q_b n c, lowest <= n -> allowed q_b n = true -> serves q_b n c ->
  exists q_b' n' c', lowest <= n' <= n /\ q_b = q_b' * 2 ^ (n - n') /\ allowed q_b' n' = true /\ serves q_b' n' c' /\
    ~ (lowest < n' /\ exists half, q_b' = 2 * half /\ allowed half (n' - 1) = true).
Proof.
  intros halves q_b n c above. revert q_b c. replace n with (lowest + Z.of_nat (Z.to_nat (n - lowest))) by lia.
  induction (Z.to_nat (n - lowest)) as [| k IH]; intros q_b c allow serve.
  - exists q_b, (lowest + Z.of_nat 0), c. rewrite Z.sub_diag. repeat split; try assumption; lia.
  - set (m := lowest + Z.of_nat (S k)) in *. replace (lowest + Z.of_nat k) with (m - 1) in IH by lia.
    destruct (Z.even q_b && allowed (q_b / 2) (m - 1))%bool eqn:reduces.
    + apply andb_prop in reduces as [even half]. apply Z.even_spec in even as [h ->].
      replace (2 * h / 2) with h in half by (rewrite Z.mul_comm, Z.div_mul; lia).
      destruct (halves h m c) as [c' serve']; [lia | assumption..|].
      destruct (IH h c' half serve') as (q & n' & d & inside & same & rest).
      exists q, n', d. replace (m - n') with (Z.succ (m - 1 - n')) by lia. rewrite Z.pow_succ_r by lia.
      split; [lia |]. split; [lia | exact rest].
    + exists q_b, m, c. rewrite Z.sub_diag. repeat split; try assumption; try lia.
      intros (_ & h & -> & half). replace (2 * h / 2) with h in reduces by (rewrite Z.mul_comm, Z.div_mul; lia).
      rewrite half, Z.even_mul in reduces. discriminate.
Qed.

(* ---- Real lines ---- *)

Section Real_lines.

(* R is any ordered commutative ring: the real numbers, or the rational ones. That nothing more is asked of it keeps
   axioms about real numbers away. *)
Variables (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (le : R -> R -> Prop).
Hypothesis is_ring : ring_theory zero one add mul sub opp eq.
Hypothesis le_add : forall a b c d, le a b -> le c d -> le (add a c) (add b d).
Hypothesis le_mul : forall w a b, le zero w -> le a b -> le (mul w a) (mul w b).
Hypothesis le_zero : le zero zero.
Add Ring R_ring : is_ring.

(* What a code asks of the line s * x + c: side * (s * x + c) <= side * limit. `side` is 1 for an upper end of a band,
   and -1 for a lower one. *)
Record ask := { side : R; code : R; limit : R; multiplier : R }.

Definition meets s c (a : ask) := le (mul (side a) (add (mul s (code a)) c)) (mul (side a) (limit a)).

Fixpoint total (of : ask -> R) (asks : list ask) :=
  match asks with nil => zero | a :: rest => add (mul (multiplier a) (of a)) (total of rest) end.

(* A Farkas witness: asks whose multipliers, none of them negative, cancel the slope and the offset, and leave a
   negative number on the right. No line meets them all. Three codes are enough in practice; any number will do. *)
Theorem farkas asks :
  Forall (fun a => le zero (multiplier a)) asks ->
  total (fun a => mul (side a) (code a)) asks = zero ->
  total side asks = zero ->
  ~ le zero (total (fun a => mul (side a) (limit a)) asks) ->
  forall s c, ~ Forall (meets s c) asks.
Proof.
  intros positive slope offset negative s c meet. apply negative.
  assert (le (add (mul s (total (fun a => mul (side a) (code a)) asks)) (mul c (total side asks)))
             (total (fun a => mul (side a) (limit a)) asks)) as sum.
  { clear slope offset negative. induction asks as [| a rest IH]; cbn [total].
    - replace (add (mul s zero) (mul c zero)) with zero by ring. exact le_zero.
    - inversion positive; inversion meet; subst.
      replace (add (mul s _) (mul c _)) with
        (add (mul (multiplier a) (mul (side a) (add (mul s (code a)) c)))
             (add (mul s (total (fun a => mul (side a) (code a)) rest)) (mul c (total side rest)))) by ring.
      auto. }
  rewrite slope, offset in sum. now replace (add (mul s zero) (mul c zero)) with zero in sum by ring.
Qed.

(* Two pairs of the window that contradict each other. The first says s * w >= a of a distance w, the other one
   s * - v >= b: what the distances make of a and b must not be more than nothing. *)
Theorem pairs_contradict w v a b :
  le zero w -> le zero v -> ~ le (add (mul v a) (mul w b)) zero ->
  forall s, ~ (le a (mul s w) /\ le b (mul s (opp v))).
Proof.
  intros W V apart s [first second]. apply apart.
  replace zero with (add (mul v (mul s w)) (mul w (mul s (opp v)))) by ring. auto.
Qed.

End Real_lines.

(* ---- Chains ---- *)

Section Chains.

(* Stored codes end before `d1`. "serves p a b": some allowed line of a segment that starts at p serves the codes from a
   to b - 1. *)
Variables (d1 : Z) (place : Z -> Prop) (serves : Z -> Z -> Z -> Prop).

(* What serves a range serves every part of it. *)
Hypothesis hereditary : forall p a b a' b', serves p a b -> a <= a' -> b' <= b -> serves p a' b'.

(* "covers k p": k segments, the first of which starts at p, serve all stored codes from p on. *)
Inductive covers : nat -> Z -> Prop :=
| covers_last p : serves p p d1 -> covers 1 p
| covers_more k p e : serves p p e -> place e -> p < e -> covers k e -> covers (S k) p.

(* "chain S g f b0", of what is left of a chain's groups: g is F(m - 1), f is F(m), b0 the b of the group before. *)
Inductive chain : nat -> Z -> Z -> Z -> Prop :=
| chain_whole g f b0 : chain 0 g f b0
| chain_group S g f b0 b f' :
    (forall p, place p -> g < p <= f -> ~ serves p p b) -> b0 <= b <= d1 ->
    (forall p, place p -> p < b -> p <= f') ->
    chain S f f' b -> chain (Datatypes.S S) g f b0
| chain_stuck S g f b0 b : (* F(m + 1) <= F(m) *)
    (forall p, place p -> g < p <= f -> ~ serves p p b) -> b0 <= b <= d1 ->
    (forall p, place p -> p < b -> p <= f) -> chain S g f b0.

(* What rule 1 asks of a group, and rule 2 of an exclusion with an empty list: no line that starts at a or before serves
   a to b - 1; so that none does from its own start p on. *)
Theorem exclusion_before a b p : (forall p', p' <= a -> ~ serves p' a b) -> p <= a -> ~ serves p p b.
Proof. intros none before serve. apply (none p before). eapply hereditary; [exact serve | lia | lia]. Qed.

Theorem chain_excludes S g f b0 :
  chain S g f b0 -> (forall p, place p -> p <= g -> ~ serves p p b0) ->
  forall k p, (k <= S)%nat -> place p -> p <= f -> ~ covers k p.
Proof.
  assert (forall g f b0 b, (forall p, place p -> g < p <= f -> ~ serves p p b) -> b0 <= b ->
    (forall p, place p -> p <= g -> ~ serves p p b0) -> forall p, place p -> p <= f -> ~ serves p p b) as all.
  { intros g' f' b0' b' own order before p at_place below serve.
    destruct (Z.le_gt_cases p g'); [| now apply (own p at_place)].
    apply (before p at_place); [assumption |]. eapply hereditary; [exact serve | lia | lia]. }
  induction 1 as [g f b0 | S g f b0 b f' own order next rest IH | S g f b0 b own order next]; intros before.
  - intros k p few _ _ cover. inversion cover; lia.
  - pose proof (all g f b0 b own (proj1 order) before) as none.
    intros k p few at_place below cover. inversion cover as [p' serve | k' p' e serve e_place after cover']; subst.
    + apply (none p at_place below). eapply hereditary; [exact serve | lia | lia].
    + destruct (Z.le_gt_cases b e).
      * apply (none p at_place below). eapply hereditary; [exact serve | lia | lia].
      * apply (IH none k' e); [lia | assumption | now apply next | assumption].
  - pose proof (all g f b0 b own (proj1 order) before) as none.
    intros k. induction k as [| k IH]; intros p few at_place below cover;
      inversion cover as [p' serve | k' p' e serve e_place after cover']; subst.
    + apply (none p at_place below). eapply hereditary; [exact serve | lia | lia].
    + destruct (Z.le_gt_cases b e).
      * apply (none p at_place below). eapply hereditary; [exact serve | lia | lia].
      * apply (IH e); [lia | assumption | now apply next | assumption].
Qed.

(* A proof's chain begins at d0, which is the lowest place, with nothing before it. *)
Theorem no_table_of_so_few S d0 :
  place d0 -> (forall p, place p -> d0 <= p) -> chain S (d0 - 1) d0 d0 -> forall k, (k <= S)%nat -> ~ covers k d0.
Proof.
  intros at_place lowest is_chain k few. apply (chain_excludes S (d0 - 1) d0 d0 is_chain); [| assumption..| lia].
  intros p p_place before. specialize (lowest p p_place). lia.
Qed.

(* Greedy: each segment ends as late as any line that starts there serves. *)
Inductive greedy : nat -> Z -> Prop :=
| greedy_last p : serves p p d1 -> greedy 1 p
| greedy_more k p e :
    serves p p e -> place e -> p < e ->
    (forall e', place e' \/ e' = d1 -> e < e' -> ~ serves p p e') -> e < d1 ->
    greedy k e -> greedy (S k) p.

(* Lines of the absolute and of the biased form do not know where their segment starts. *)
Definition same_from_any_start := forall p p' a b, serves p a b -> serves p' a b.

Theorem greedy_is_fewest :
  same_from_any_start -> forall k p, greedy k p -> forall k' p', p' <= p -> covers k' p' -> (k <= k')%nat.
Proof.
  intros same k p is_greedy.
  induction is_greedy as [p serve | k p e serve e_place after longest inside rest IH]; intros k' p' before cover.
  - inversion cover; lia.
  - assert (forall e', place e' \/ e' = d1 -> serves p' p' e' -> e' <= e) as reach.
    { intros e' end_place serve'. destruct (Z.le_gt_cases e' e); [assumption | exfalso].
      apply (longest e' end_place); [assumption |]. apply (same p').
      eapply hereditary; [exact serve' | lia | lia]. }
    inversion cover as [p'' serve' | k'' p'' e' serve' e'_place after' cover']; subst.
    + specialize (reach d1 (or_intror eq_refl) serve'). lia.
    + specialize (reach e' (or_introl e'_place) serve'). specialize (IH k'' e' reach cover'). lia.
Qed.

End Chains.

(* The largest error: where the greedy cover within L needs more than S segments, no table of S is within L, nor within
   less. *)
Theorem greedy_least_error
  (d1 : Z) (place : Z -> Prop) (E : Type) (le : E -> E -> Prop) (serves : E -> Z -> Z -> Z -> Prop) :
  (forall L p a b a' b', serves L p a b -> a <= a' -> b' <= b -> serves L p a' b') ->
  (forall L, same_from_any_start (serves L)) ->
  (forall L L' p a b, le L' L -> serves L' p a b -> serves L p a b) ->
  forall L d0 k S, greedy d1 place (serves L) k d0 -> (S < k)%nat ->
  forall L' k', le L' L -> (k' <= S)%nat -> ~ covers d1 place (serves L') k' d0.
Proof.
  intros hereditary same wider L d0 k S is_greedy more L' k' smaller few cover.
  assert (covers d1 place (serves L) k' d0) as within.
  { clear few is_greedy. induction cover; econstructor; eauto. }
  pose proof (greedy_is_fewest d1 place (serves L) (hereditary L) (same L) k d0 is_greedy k' d0 (Z.le_refl _) within).
  lia.
Qed.
